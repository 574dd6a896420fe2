import { createPrivateKey, generateKeyPairSync, randomUUID, type KeyObject } from "node:crypto";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FILE_NAME = "signing.key";
const OWNER_ONLY = 0o600;
const ADVICE =
  "restore it from a backup; or make a new one with: coordinator signing-key rotate (every Island must then join again)";

/** The key that signs Cargos cannot be used. The message says what to do. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

export interface SigningKey {
  readonly key: KeyObject;
  /** The file. */
  readonly path: string;
  /** False if other users of the machine can read the file, and so sign Cargos that every Island runs. Always true on Windows. */
  readonly isPrivate: boolean;
}

/** The Ed25519 key of a data directory; null if it has no key. @throws {SigningKeyError} if the file holds something else. */
export async function readSigningKey(dataDirectory: string): Promise<SigningKey | null> {
  const path = join(dataDirectory, FILE_NAME);
  try {
    const key = keyOf(await readFile(path, "utf8"), path);
    const { mode } = await stat(path);
    return { key, path, isPrivate: process.platform === "win32" || (mode & 0o077) === 0 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return null;
    if (code === "EISDIR") throw new SigningKeyError(`${describeDirectory(path)}, then ${ADVICE}`, { cause: error });
    throw error;
  }
}

/**
 * As {@link readSigningKey}, but makes a missing key. A key that Islands have pinned is only replaced by `signing-key rotate`.
 * @param isNew no Island can have pinned a key yet.
 * @throws {SigningKeyError} for a damaged key, and for a missing one that Islands may have pinned.
 */
export async function openSigningKey(dataDirectory: string, isNew: boolean): Promise<SigningKey> {
  const found = await readSigningKey(dataDirectory);
  if (found !== null) return found;
  const path = join(dataDirectory, FILE_NAME);
  if (!isNew) throw new SigningKeyError(`${path} is missing, and Islands have pinned its key: ${ADVICE}`);
  return { key: await makeSigningKey(dataDirectory), path, isPrivate: true };
}

/** Makes a key, which replaces an old one atomically: readers see the old file or the new one. */
export async function makeSigningKey(dataDirectory: string): Promise<KeyObject> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const path = join(dataDirectory, FILE_NAME);
  const partial = `${path}.${randomUUID()}.partial`;
  const present = await stat(path).catch(() => null);
  if (present?.isDirectory() === true) throw new SigningKeyError(describeDirectory(path));
  try {
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    await writeFile(partial, pem, { mode: OWNER_ONLY, flag: "wx", flush: true });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  await syncDirectory(dataDirectory);
  return privateKey;
}

/** Makes the rename durable. Windows has no such call. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function describeDirectory(path: string): string {
  return `${path} is a directory, not a file: move it away`;
}

function keyOf(pem: string, path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new SigningKeyError(`${path} is damaged, and Islands have pinned its key: ${ADVICE}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new SigningKeyError(`${path} holds a key of type ${key.asymmetricKeyType}, not an Ed25519 key: ${ADVICE}`);
}
