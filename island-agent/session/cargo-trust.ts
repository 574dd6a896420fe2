import type { KeyObject } from "node:crypto";
import type { CargoManifest } from "../../shared/cargo.ts";
import { fingerprintOf, isSigned, readPublicKey } from "../../shared/cargo-signature.ts";
import type { Logger } from "../../shared/logger.ts";

/**
 * Decides which Cargos this Island trusts: those that are signed with the coordinator's key that was pinned at join, for all
 * Islands or for the Islands of its own account.
 */
export class CargoTrust {
  readonly #pinned: string;
  readonly #key: KeyObject;
  readonly #accountId: string | null;
  readonly #log: Logger;
  #hasLogged = false;

  /**
   * @param pinned the public key, base64.
   * @param accountId the account whose own Cargos are trusted, too; null when unknown.
   * @throws {RangeError} for an invalid key.
   */
  constructor(pinned: string, accountId: string | null, log: Logger) {
    const key = readPublicKey(pinned);
    if (key === undefined) throw new RangeError("the pinned key is not an Ed25519 public key in base64");
    this.#pinned = pinned;
    this.#key = key;
    this.#accountId = accountId;
    this.#log = log;
  }

  /** Why the Cargo must not run and its model not be downloaded; null when it is signed. Logs only the first refusal. */
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

  /** Why to leave a coordinator that shows `key`; null when it is the pinned key. */
  changeOf(key: string): string | null {
    return key === this.#pinned ? null : describeKeyChange(this.#pinned, key);
  }
}

/** Says that the key has changed and what the owner can do. */
export function describeKeyChange(pinned: string, shown: string): string {
  return (
    `the coordinator's key has changed: this Island pinned ${fingerprintOf(pinned)}, now it shows ${fingerprintOf(shown)}. ` +
    "Ask its operator whether that is right (coordinator signing-key show), then join again with --fingerprint"
  );
}
