import { createPublicKey, sign, type KeyObject } from "node:crypto";
import { manifestOf, type CargoManifest } from "../../shared/cargo.ts";
import { publicKeyText, signedBytes, type Endorsement } from "../../shared/cargo-signature.ts";
import type { Env } from "../env.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";
import { openSigningKey, storeKeyInUse } from "./signing-key.ts";

/** The signed Cargo in the frames `assign` and `preload`. */
export interface SignedCargo {
  readonly cargo: CargoManifest;
  readonly signature: string;
  readonly endorsements?: Endorsement[];
}

interface CargoToSign extends CargoManifest {
  /** The only account whose Islands may run the Cargo; if absent, every Island may. */
  readonly privateTo?: string;
  readonly endorsements?: readonly Endorsement[];
}

export type CargoSigner = ReturnType<typeof cargoSigner>;

/** Signs Cargos with the key that Islands pin when they join. Islands run only Cargos with this signature. */
export function cargoSigner(key: KeyObject) {
  /** Signatures by catalog entry. Entries are replaced on change, so each version of a Cargo is signed once. */
  const signed = new WeakMap<CargoToSign, SignedCargo>();
  return {
    /** Public key of the network, in base64. */
    publicKey: publicKeyText(createPublicKey(key)),

    /** Returns the signed manifest. An account's own Cargo, until it is approved, is signed only for its Islands. */
    sign(entry: CargoToSign): SignedCargo {
      const kept = signed.get(entry);
      if (kept !== undefined) return kept;
      const cargo = manifestOf(entry);
      const signature = sign(null, signedBytes(cargo, entry.privateTo), key).toString("base64");
      const { endorsements = [] } = entry;
      const made = { cargo, signature, ...(endorsements.length === 0 ? {} : { endorsements: [...endorsements] }) };
      signed.set(entry, made);
      return made;
    },
  };
}

/**
 * Opens or creates the signing key. `isNew`: no Island has joined. @throws {SigningKeyError} if the key is damaged or
 * lost.
 */
export async function openCargoSigner(
  { log }: Pick<Env, "log">,
  secrets: SharedSecrets,
  isNew: boolean,
): Promise<CargoSigner> {
  const { key, path, isPrivate } = await openSigningKey(secrets, isNew);
  if (!isPrivate)
    log.warn({ file: path }, "Other users can read the key that signs Cargos; restrict the file with chmod 600");
  const signer = cargoSigner(key);
  await storeKeyInUse(secrets, signer.publicKey);
  return signer;
}
