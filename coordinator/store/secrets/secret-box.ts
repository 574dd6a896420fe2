import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { addFile, readIfThere } from "./file-secrets.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Begins what is stored. A secret in clear begins with `whsec_`. */
const SEALED = "sealed1:";

/**
 * Encrypts webhook secrets for the database (AES-256-GCM), so that a copy of the database alone signs nothing. They cannot be stored as
 * hashes, because they sign.
 */
export class SecretBox {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Reads the key file, or makes it. With a new key, what was sealed before cannot be read. */
  static async open(path: string): Promise<SecretBox> {
    const key = (await readIfThere(path)) ?? (await addFile(path, randomBytes(KEY_BYTES)));
    if (key.length === KEY_BYTES) return new SecretBox(key);
    throw new Error(`${path} is not a key of ${KEY_BYTES} bytes; restore it from your backup`);
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

  /** Null if it was sealed with another key. What is not sealed comes back as it is. */
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
