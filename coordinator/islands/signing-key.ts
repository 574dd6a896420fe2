import { createPrivateKey, generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE_NAME = "signing.key";
const OWNER_ONLY = 0o600;

/** The key that signs Cargos cannot be used. The message says what to do. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

/** The Ed25519 key of a data directory; null when it has none yet. @throws {SigningKeyError} when the file holds something else. */
export async function readSigningKey(dataDirectory: string): Promise<KeyObject | null> {
  const path = join(dataDirectory, FILE_NAME);
  try {
    return keyOf(await readFile(path, "utf8"), path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * As {@link readSigningKey}, but made when there is none. A damaged one is never replaced by itself: Islands have pinned it.
 * @throws {SigningKeyError}
 */
export async function openSigningKey(dataDirectory: string): Promise<KeyObject> {
  return (await readSigningKey(dataDirectory)) ?? (await makeSigningKey(dataDirectory));
}

/** Makes a key, in the place of the one there is. Readers see the old file or the new one, never a part. */
export async function makeSigningKey(dataDirectory: string): Promise<KeyObject> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const path = join(dataDirectory, FILE_NAME);
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    await writeFile(partial, pem, { mode: OWNER_ONLY, flag: "wx", flush: true });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return privateKey;
}

function keyOf(pem: string, path: string): KeyObject {
  const advice =
    "put it back from a backup; or make another with: coordinator signing-key rotate, after which every Island must join again";
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new SigningKeyError(`${path} is damaged and Islands have pinned the key that it held: ${advice}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new SigningKeyError(`${path} holds no Ed25519 key, but one of type ${key.asymmetricKeyType}: ${advice}`);
}
