import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readPublicKey } from "../../shared/cargo-signature.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

const ADVICE =
  "Restore the key from a backup, or create a new one with the command signing-key rotate (then every Island must join again)";

/** The signing key cannot be used. The message names the next step. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

export interface SigningKey {
  readonly key: KeyObject;
  /** Path of the key file, or name of the key in the database. */
  readonly path: string;
  /** False if other users of the machine can read the key, and could thus sign Cargos. Always true on Windows. */
  readonly isPrivate: boolean;
}

/**
 * Reads the network's Ed25519 key; null if the network has none. @throws {SigningKeyError} if something else is stored.
 */
export async function readSigningKey(secrets: SharedSecrets): Promise<SigningKey | null> {
  const path = secrets.locationOf("signing");
  try {
    const stored = await secrets.read("signing");
    if (stored === null) return null;
    return { key: keyOf(stored, path), path, isPrivate: await secrets.isPrivate("signing") };
  } catch (error) {
    if (!isDirectory(error)) throw error;
    throw new SigningKeyError(`${describeDirectory(path)}. ${ADVICE}`, { cause: error });
  }
}

/**
 * Reads the key, or creates it if it is missing. Only `signing-key rotate` replaces a key that Islands have pinned.
 * @param isNew True if no Island can have pinned a key yet.
 * @throws {SigningKeyError} if the key is damaged, or missing although Islands may have pinned it.
 */
export async function openSigningKey(secrets: SharedSecrets, isNew: boolean): Promise<SigningKey> {
  const found = await readSigningKey(secrets);
  if (found !== null) return found;
  const path = secrets.locationOf("signing");
  if (!isNew) throw new SigningKeyError(`${path}: the signing key is missing, and Islands have pinned it. ${ADVICE}`);
  // Another coordinator that starts at the same time may have created the key.
  return { key: keyOf(await secrets.add("signing", pemOf(newKey())), path), path, isPrivate: true };
}

/** Creates a key and replaces the old one atomically: readers see the old or the new one. */
export async function makeSigningKey(secrets: SharedSecrets): Promise<KeyObject> {
  const key = newKey();
  try {
    await secrets.replace("signing", pemOf(key));
  } catch (error) {
    if (!isDirectory(error)) throw error;
    throw new SigningKeyError(describeDirectory(secrets.locationOf("signing")), { cause: error });
  }
  return key;
}

/**
 * Returns the public key (base64) of the coordinator that started last, because a running coordinator keeps its key
 * after `signing-key rotate`. Null if no key was used yet or the stored value is damaged.
 */
export async function readKeyInUse(secrets: Pick<SharedSecrets, "read">): Promise<string | null> {
  const text = (await secrets.read("signing_in_use"))?.toString("utf8").trim();
  return text === undefined || readPublicKey(text) === undefined ? null : text;
}

/** Stores the public key that this coordinator uses, for information only. */
export async function storeKeyInUse(
  secrets: Pick<SharedSecrets, "read" | "replace">,
  publicKey: string,
): Promise<void> {
  if ((await readKeyInUse(secrets)) === publicKey) return;
  await secrets.replace("signing_in_use", Buffer.from(`${publicKey}\n`));
}

const newKey = (): KeyObject => generateKeyPairSync("ed25519").privateKey;

const pemOf = (key: KeyObject): Buffer => Buffer.from(key.export({ type: "pkcs8", format: "pem" }));

const isDirectory = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EISDIR";

const describeDirectory = (path: string): string => `${path}: must be a file, but it is a directory. Move it away`;

function keyOf(pem: Buffer, path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new SigningKeyError(`${path}: the signing key is damaged, and Islands have pinned it. ${ADVICE}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new SigningKeyError(`${path}: must be an Ed25519 key, got a key of type ${key.asymmetricKeyType}. ${ADVICE}`);
}
