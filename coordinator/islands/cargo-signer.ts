import { createPublicKey, sign, type KeyObject } from "node:crypto";
import { manifestOf, type CargoManifest } from "../../shared/cargo.ts";
import { publicKeyText, signedBytes, type Endorsement } from "../../shared/cargo-signature.ts";
import type { Env } from "../env.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";
import { openSigningKey, storeKeyInUse } from "./signing-key.ts";

/** A Cargo in the frames `assign` and `preload`. */
export interface SignedCargo {
  readonly cargo: CargoManifest;
  /** Ed25519, base64. */
  readonly signature: string;
  /** What others have signed of it; absent if nobody has. */
  readonly endorsements?: Endorsement[];
}

interface CargoToSign extends CargoManifest {
  /** The one account whose Islands may run it; absent: every Island may. */
  readonly privateTo?: string;
  readonly endorsements?: readonly Endorsement[];
}

export type CargoSigner = ReturnType<typeof cargoSigner>;

/** Signs Cargos with the key that Islands pinned when they joined. Islands run nothing that is not signed with it. */
export function cargoSigner(key: KeyObject) {
  /** By catalog entry. An entry never changes, it is replaced, so each version of a Cargo is signed once. */
  const signed = new WeakMap<CargoToSign, SignedCargo>();
  return {
    /** The public key that Islands pin, in base64. */
    publicKey: publicKeyText(createPublicKey(key)),

    /**
     * The part of a Cargo that is sent to Islands, with its signature. Signed for every Island: the operator's Cargos and those that
     * the operator approved. Signed for the Islands of one account: that account's own. Nothing is signed elsewhere.
     */
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
 * Opens the key of the network, and makes one if no Island has pinned a key yet.
 * @param isNew No Island has ever joined.
 * @throws {SigningKeyError} when the key is damaged or lost.
 */
export async function openCargoSigner(
  { log }: Pick<Env, "log">,
  secrets: SharedSecrets,
  isNew: boolean,
): Promise<CargoSigner> {
  const { key, path, isPrivate } = await openSigningKey(secrets, isNew);
  if (!isPrivate) log.warn({ file: path }, "Other users can read the key that signs what Islands run: chmod 600");
  const signer = cargoSigner(key);
  await storeKeyInUse(secrets, signer.publicKey);
  return signer;
}
