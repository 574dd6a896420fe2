import type { KeyObject } from "node:crypto";
import type { CargoManifest } from "../../shared/cargo.ts";
import {
  fingerprintOf,
  isSigned,
  readPublicKey,
  verifyEndorsement,
  type Endorsement,
} from "../../shared/cargo-signature.ts";
import type { Logger } from "../../shared/logger.ts";
import { KnownSignatures } from "./known-signatures.ts";

/** A Cargo of the frames `assign` and `preload`. */
export interface ReceivedCargo {
  readonly cargo: CargoManifest;
  readonly signature: string;
  readonly endorsements?: readonly Endorsement[] | undefined;
}

/**
 * Decides which Cargos this Island trusts: those that are signed with the coordinator's key that was pinned at join, for all
 * Islands or for the Islands of its own account.
 */
export class CargoTrust {
  readonly #pinned: string;
  readonly #key: KeyObject;
  readonly #accountId: string | null;
  /** Keys of the owner's choice, base64: one of them must have signed, too. Null: the pinned key decides alone. */
  readonly #signedBy: readonly string[] | null;
  readonly #log: Logger;
  /** Of the pinned key, for every Island. */
  readonly #signatures: KnownSignatures;
  #hasLogged = false;

  /**
   * @param pinned the public key, base64.
   * @param accountId the account whose own Cargos are trusted, too; null when unknown.
   * @param signedBy the owner's setting `cargos.signed_by`, base64.
   * @throws {RangeError} for an invalid key.
   */
  constructor(pinned: string, accountId: string | null, log: Logger, signedBy: readonly string[] | null = null) {
    const key = readPublicKey(pinned);
    if (key === undefined) throw new RangeError("the pinned key is not an Ed25519 public key in base64");
    this.#pinned = pinned;
    this.#key = key;
    this.#signatures = new KnownSignatures((cargo, signature) => isSigned(cargo, signature, key));
    this.#accountId = accountId;
    this.#signedBy = signedBy;
    this.#log = log;
  }

  /** Why the Cargo must not run and its model not be downloaded; null when it is signed. Logs only the first refusal. */
  problemOf({ cargo, signature, endorsements = [] }: ReceivedCargo): string | null {
    if (this.#signatures.isValid(cargo, signature)) return this.#ownersProblemOf(cargo, endorsements);
    if (this.#signedBy === null && this.#accountId !== null && isSigned(cargo, signature, this.#key, this.#accountId))
      return null;
    const fingerprint = fingerprintOf(this.#pinned);
    const problem =
      `The manifest of "${cargo.slug}" is not signed for this Island by the key that it pinned (${fingerprint})` +
      (this.#accountId === null ? "; it knows no account of its own until it joins again" : "");
    if (!this.#hasLogged) this.#log.warn({ cargo: cargo.slug, fingerprint }, "A Cargo is not signed: it is refused");
    this.#hasLogged = true;
    return problem;
  }

  /** Why the owner's choice of keys refuses a Cargo that is signed for every Island. */
  #ownersProblemOf(cargo: CargoManifest, endorsements: readonly Endorsement[]): string | null {
    const wanted = this.#signedBy;
    if (wanted === null || wanted.includes(this.#pinned)) return null;
    const isEndorsed = endorsements.some((each) => wanted.includes(each.publicKey) && verifyEndorsement(cargo, each));
    if (isEndorsed) return null;
    return `The Cargo "${cargo.slug}" is signed by none of the keys that this Island's owner wants (cargos.signed_by)`;
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
