import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { addFile, readIfThere } from "./file-secrets.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Prefix of an encrypted secret. A plain secret starts with `whsec_`. */
const SEALED = "sealed1:";

/**
 * Encrypts secrets (AES-256-GCM), so that a copy of the database does not reveal them. Signing needs the plain value.
 */
export class SecretBox {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Opens the key file, or creates it. A new key cannot decrypt earlier secrets. */
  static async open(path: string): Promise<SecretBox> {
    const key = (await readIfThere(path)) ?? (await addFile(path, randomBytes(KEY_BYTES)));
    if (key.length === KEY_BYTES) return new SecretBox(key);
    throw new Error(`${path} must be a key of ${KEY_BYTES} bytes, got ${key.length}; restore it from your backup`);
  }

  seal(secret: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return SEALED + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64");
  }

  sealIn<T extends { readonly secret: string } | null>(webhook: T): T {
    return webhook === null ? webhook : { ...webhook, secret: this.seal(webhook.secret) };
  }

  /** Decrypts a secret. Returns null if it was encrypted with another key; returns a plain secret unchanged. */
  unseal(stored: string): string | null {
    if (!stored.startsWith(SEALED)) return stored;
    const bytes = Buffer.from(stored.slice(SEALED.length), "base64");
    const textAt = NONCE_BYTES + TAG_BYTES;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, textAt));
    try {
      return decipher.update(bytes.subarray(textAt), undefined, "utf8") + decipher.final("utf8");
    } catch {
      return null;
    }
  }
}
