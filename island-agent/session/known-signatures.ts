import { LRUCache } from "lru-cache";
import { canonicalJson } from "../../shared/canonical-json.ts";
import type { CargoManifest } from "../../shared/cargo.ts";

const MAX_KNOWN = 100;

/** Each job brings its Cargo again: a signature that was found valid for a manifest is not verified for the same manifest again. */
export class KnownSignatures {
  readonly #verify: (cargo: CargoManifest, signature: string) => boolean;
  /** By signature: the manifest that it was found to sign, in the form that is signed. */
  readonly #known = new LRUCache<string, string>({ max: MAX_KNOWN });

  /** @param verify true only for a manifest that has canonical JSON. */
  constructor(verify: (cargo: CargoManifest, signature: string) => boolean) {
    this.#verify = verify;
  }

  isValid(cargo: CargoManifest, signature: string): boolean {
    const known = this.#known.get(signature);
    if (known !== undefined && known === signedTextOf(cargo)) return true;
    if (!this.#verify(cargo, signature)) return false;
    this.#known.set(signature, canonicalJson(cargo));
    return true;
  }
}

/** Null for a manifest without canonical JSON, which cannot have been signed. */
function signedTextOf(cargo: CargoManifest): string | null {
  try {
    return canonicalJson(cargo);
  } catch {
    return null;
  }
}
