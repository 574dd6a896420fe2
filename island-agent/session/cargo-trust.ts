import type { KeyObject } from "node:crypto";
import type { CargoManifest } from "../../shared/cargo.ts";
import { fingerprintOf, isSigned, readPublicKey } from "../../shared/cargo-signature.ts";
import type { Logger } from "../../shared/logger.ts";

/**
 * What this Island lets itself be told: Cargos that the coordinator whose key it pinned when it joined has signed, for every
 * Island or for those of its own account.
 */
export class CargoTrust {
  readonly #pinned: string;
  readonly #key: KeyObject;
  readonly #accountId: string | null;
  readonly #log: Logger;
  #hasLogged = false;

  /**
   * @param pinned the public key, base64.
   * @param accountId whose own Cargos are run too; null where it is not known.
   * @throws {RangeError} when the key is none.
   */
  constructor(pinned: string, accountId: string | null, log: Logger) {
    const key = readPublicKey(pinned);
    if (key === undefined) throw new RangeError("the pinned key is no Ed25519 public key in base64");
    this.#pinned = pinned;
    this.#key = key;
    this.#accountId = accountId;
    this.#log = log;
  }

  /** Why the Cargo must not be run, nor its model fetched; null when it is signed. Logged the first time only. */
  problemOf({ cargo, signature }: { cargo: CargoManifest; signature: string }): string | null {
    if (isSigned(cargo, signature, this.#key)) return null;
    if (this.#accountId !== null && isSigned(cargo, signature, this.#key, this.#accountId)) return null;
    const fingerprint = fingerprintOf(this.#pinned);
    const problem =
      `The manifest of "${cargo.slug}" is not signed for this Island by the key that it pinned (${fingerprint})` +
      (this.#accountId === null ? "; it knows no account of its own until it joins again" : "");
    if (!this.#hasLogged) this.#log.warn({ slug: cargo.slug, fingerprint }, "A Cargo is not signed: it is refused");
    this.#hasLogged = true;
    return problem;
  }

  /** Why not to stay with a coordinator that shows `key`; null when it is the pinned one. */
  changeOf(key: string): string | null {
    return key === this.#pinned ? null : describeKeyChange(this.#pinned, key);
  }
}

/** What to do about a coordinator whose key is not the pinned one. */
export function describeKeyChange(pinned: string, shown: string): string {
  return (
    `the coordinator's key has changed: this Island pinned ${fingerprintOf(pinned)}, now it shows ${fingerprintOf(shown)}. ` +
    "Ask its operator whether that is right (coordinator signing-key show), then join again with --fingerprint"
  );
}
