import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { canonicalJson } from "../../shared/canonical-json.ts";
import type { CargoManifest } from "../../shared/cargo.ts";
import {
  fingerprintOf,
  isSigned,
  readPublicKey,
  verifyEndorsement,
  type Endorsement,
} from "../../shared/cargo-signature.ts";
import type { Logger } from "../../shared/logger.ts";

const MAX_CACHED_SIGNATURES = 100;

/** A Cargo of the frames `assign` and `preload`. */
export interface ReceivedCargo {
  readonly cargo: CargoManifest;
  readonly signature: string;
  readonly endorsements?: readonly Endorsement[] | undefined;
}

/**
 * Decides which Cargos this Island trusts: those signed with the coordinator's key that was pinned at join, for all
 * Islands or for the Islands of its account.
 * @param pinned the public key, base64.
 * @param accountId the account whose own Cargos are also trusted; null when unknown.
 * @param signedBy the owner's setting `cargos.signed_by`: keys in base64, one of which must also have signed; null if
 * only the pinned key is required.
 * @throws {RangeError} for an invalid key.
 */
export function openCargoTrust(
  pinned: string,
  accountId: string | null,
  log: Logger,
  signedBy: readonly string[] | null = null,
) {
  const key = keyOf(pinned);
  let hasLogged = false;
  const isSignedForAll = rememberSignatures((cargo, signature) => isSigned(cargo, signature, key));

  /** Returns why the Cargo must not run or be downloaded; null if it is signed. Logs only the first refusal. */
  function problemOf({ cargo, signature, endorsements = [] }: ReceivedCargo): string | null {
    if (isSignedForAll(cargo, signature)) return ownersProblemOf(cargo, endorsements);
    if (signedBy === null && accountId !== null && isSigned(cargo, signature, key, accountId)) return null;
    const fingerprint = fingerprintOf(pinned);
    const problem =
      `The manifest of "${cargo.slug}" has no valid signature by the pinned key (${fingerprint})` +
      (accountId === null ? ", and the settings of this Island contain no account. Join again" : "");
    if (!hasLogged)
      log.warn(
        { cargo: cargo.slug, fingerprint },
        "Rejected a Cargo that is not signed with the key of the coordinator",
      );
    hasLogged = true;
    return problem;
  }

  /** Returns why the owner's choice of keys refuses a Cargo that is signed for all Islands. */
  function ownersProblemOf(cargo: CargoManifest, endorsements: readonly Endorsement[]): string | null {
    if (signedBy === null || signedBy.includes(pinned)) return null;
    const isEndorsed = endorsements.some((each) => signedBy.includes(each.publicKey) && verifyEndorsement(cargo, each));
    if (isEndorsed) return null;
    return `The Cargo "${cargo.slug}" has no signature by a key in cargos.signed_by`;
  }

  /** Returns why to leave a coordinator that shows `key`; null when it is the pinned key. */
  function changeOf(key: string): string | null {
    return key === pinned ? null : describeKeyChange(pinned, key);
  }

  return { problemOf, changeOf };
}

function keyOf(pinned: string): KeyObject {
  const key = readPublicKey(pinned);
  if (key === undefined) throw new RangeError("the pinned key is not an Ed25519 public key in base64");
  return key;
}

export function describeKeyChange(pinned: string, shown: string): string {
  return (
    `the coordinator's key has changed: expected ${fingerprintOf(pinned)}, got ${fingerprintOf(shown)}. ` +
    "Ask the operator for the fingerprint (coordinator signing-key show), then join again with --fingerprint"
  );
}

/**
 * Caches valid signatures. Each job includes its Cargo, and a signature is verified only once for the same manifest.
 * @param verify called only for a manifest that has canonical JSON.
 */
export function rememberSignatures(
  verify: (cargo: CargoManifest, signature: string) => boolean,
): (cargo: CargoManifest, signature: string) => boolean {
  /** Signed form of the manifest by its signature. */
  const valid = new LRUCache<string, string>({ max: MAX_CACHED_SIGNATURES });

  return (cargo, signature) => {
    const known = valid.get(signature);
    if (known !== undefined && known === signedTextOf(cargo)) return true;
    if (!verify(cargo, signature)) return false;
    valid.set(signature, canonicalJson(cargo));
    return true;
  };
}

/** Returns null for a manifest without canonical JSON, which cannot have been signed. */
function signedTextOf(cargo: CargoManifest): string | null {
  try {
    return canonicalJson(cargo);
  } catch {
    return null;
  }
}
