import { LRUCache } from "lru-cache";
import { canonicalJson } from "../../shared/canonical-json.ts";
import type { CargoManifest } from "../../shared/cargo.ts";

const MAX_KNOWN = 100;

/**
 * Each job brings its Cargo again: a signature that was found valid for a manifest is not verified for the same manifest again.
 * @param verify true only for a manifest that has canonical JSON.
 */
export function openKnownSignatures(verify: (cargo: CargoManifest, signature: string) => boolean) {
  /** By signature: the manifest that it was found to sign, in the form that is signed. */
  const valid = new LRUCache<string, string>({ max: MAX_KNOWN });

  function isValid(cargo: CargoManifest, signature: string): boolean {
    const known = valid.get(signature);
    if (known !== undefined && known === signedTextOf(cargo)) return true;
    if (!verify(cargo, signature)) return false;
    valid.set(signature, canonicalJson(cargo));
    return true;
  }

  return { isValid };
}

/** Null for a manifest without canonical JSON, which cannot have been signed. */
function signedTextOf(cargo: CargoManifest): string | null {
  try {
    return canonicalJson(cargo);
  } catch {
    return null;
  }
}
