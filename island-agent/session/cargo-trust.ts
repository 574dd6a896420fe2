import type { KeyObject } from "node:crypto";
import type { CargoManifest } from "../../shared/cargo.ts";
import { LRUCache } from "lru-cache";
import {
  fingerprintOf,
  isSigned,
  readPublicKey,
  signedBytes,
  verifyEndorsement,
  type Endorsement,
} from "../../shared/cargo-signature.ts";
import type { Logger } from "../../shared/logger.ts";

/** Cargos whose signature is remembered. */
const MAX_KNOWN = 100;

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
  /** By signature of the pinned key, valid for every Island: the bytes that it was found to sign. */
  readonly #known = new LRUCache<string, Buffer>({ max: MAX_KNOWN });
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
    this.#accountId = accountId;
    this.#signedBy = signedBy;
    this.#log = log;
  }

  /** Why the Cargo must not run and its model not be downloaded; null when it is signed. Logs only the first refusal. */
  problemOf({ cargo, signature, endorsements = [] }: ReceivedCargo): string | null {
    if (this.#isSignedForAll(cargo, signature)) return this.#ownersProblemOf(cargo, endorsements);
    if (this.#signedBy === null && this.#accountId !== null && isSigned(cargo, signature, this.#key, this.#accountId))
      return null;
    const fingerprint = fingerprintOf(this.#pinned);
    const problem =
      `The manifest of "${cargo.slug}" is not signed for this Island by the key that it pinned (${fingerprint})` +
      (this.#accountId === null ? "; it knows no account of its own until it joins again" : "");
    if (!this.#hasLogged) this.#log.warn({ slug: cargo.slug, fingerprint }, "A Cargo is not signed: it is refused");
    this.#hasLogged = true;
    return problem;
  }

  /** Each job brings its Cargo again: a signature that was checked for the same bytes is not checked twice. */
  #isSignedForAll(cargo: CargoManifest, signature: string): boolean {
    const known = this.#known.get(signature);
    if (known !== undefined) return isOfBytes(cargo, known);
    if (!isSigned(cargo, signature, this.#key)) return false;
    this.#known.set(signature, signedBytes(cargo));
    return true;
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

function isOfBytes(cargo: CargoManifest, bytes: Buffer): boolean {
  try {
    return signedBytes(cargo).equals(bytes);
  } catch {
    // A manifest without canonical JSON cannot have been signed.
    return false;
  }
}

/** Says that the key has changed and what the owner can do. */
export function describeKeyChange(pinned: string, shown: string): string {
  return (
    `the coordinator's key has changed: this Island pinned ${fingerprintOf(pinned)}, now it shows ${fingerprintOf(shown)}. ` +
    "Ask its operator whether that is right (coordinator signing-key show), then join again with --fingerprint"
  );
}
