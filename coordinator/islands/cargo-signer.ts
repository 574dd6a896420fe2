import { createPublicKey, sign, type KeyObject } from "node:crypto";
import { manifestOf, type CargoManifest } from "../../shared/cargo.ts";
import { publicKeyText, signedBytes } from "../../shared/cargo-signature.ts";
import { storeKeyInUse } from "./key-in-use.ts";
import { openSigningKey } from "./signing-key.ts";

/** What `assign` and `preload` tell of a Cargo. */
export interface SignedCargo {
  readonly cargo: CargoManifest;
  /** Ed25519, base64. */
  readonly signature: string;
}

export interface CargoSignerOptions {
  readonly dataDirectory: string;
  /** No Island has been here. */
  readonly isNew: boolean;
  readonly log: { warn(facts: object, message: string): void };
}

/** A Cargo to sign: everybody's, or only for the Islands of one account. */
interface CargoToSign extends CargoManifest {
  readonly privateTo?: string;
}

/** Signs Cargos by the key that Islands pinned when they joined: they run nothing else. */
export class CargoSigner {
  /** What Islands pin, in base64. */
  readonly publicKey: string;
  readonly #key: KeyObject;
  /** By catalog entry, which is replaced and never changed: each version of a Cargo is signed once. */
  readonly #signed = new WeakMap<CargoToSign, SignedCargo>();

  constructor(key: KeyObject) {
    this.#key = key;
    this.publicKey = publicKeyText(createPublicKey(key));
  }

  /**
   * With the key of a data directory, which is made when there is none and no Island has pinned one.
   * @throws {SigningKeyError} when it is damaged or lost.
   */
  static async open({ dataDirectory, isNew, log }: CargoSignerOptions): Promise<CargoSigner> {
    const { key, path, isPrivate } = await openSigningKey(dataDirectory, isNew);
    if (!isPrivate) log.warn({ file: path }, "Other users can read the key that signs what Islands run: chmod 600");
    const signer = new CargoSigner(key);
    await storeKeyInUse(dataDirectory, signer.publicKey);
    return signer;
  }

  /**
   * The part of a Cargo that travels, with its signature. What is signed is what may run, and this is the only place that
   * signs: the operator's Cargos and those he approved for every Island, an account's own for that account's Islands alone.
   */
  sign(entry: CargoToSign): SignedCargo {
    const kept = this.#signed.get(entry);
    if (kept !== undefined) return kept;
    const cargo = manifestOf(entry);
    const signature = sign(null, signedBytes(cargo, entry.privateTo), this.#key).toString("base64");
    const signed = { cargo, signature };
    this.#signed.set(entry, signed);
    return signed;
  }
}
