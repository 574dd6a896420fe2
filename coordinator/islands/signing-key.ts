import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

const ADVICE =
  "restore it from a backup; or make a new one with the command signing-key rotate (every Island must then join again)";

/** The key that signs Cargos cannot be used. The message says what to do. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

export interface SigningKey {
  readonly key: KeyObject;
  /** The file, or what it is called in the database. */
  readonly path: string;
  /** False if other users of the machine can read it, and so sign Cargos that every Island runs. Always true on Windows. */
  readonly isPrivate: boolean;
}

/** The Ed25519 key of a network; null if it has none. @throws {SigningKeyError} if something else is stored. */
export async function readSigningKey(secrets: SharedSecrets): Promise<SigningKey | null> {
  const path = secrets.placeOf("signing");
  try {
    const stored = await secrets.read("signing");
    if (stored === null) return null;
    return { key: keyOf(stored, path), path, isPrivate: await secrets.isPrivate("signing") };
  } catch (error) {
    if (!isDirectory(error)) throw error;
    throw new SigningKeyError(`${describeDirectory(path)}, then ${ADVICE}`, { cause: error });
  }
}

/**
 * As {@link readSigningKey}, but makes a missing key. A key that Islands have pinned is only replaced by `signing-key rotate`.
 * @param isNew no Island can have pinned a key yet.
 * @throws {SigningKeyError} for a damaged key, and for a missing one that Islands may have pinned.
 */
export async function openSigningKey(secrets: SharedSecrets, isNew: boolean): Promise<SigningKey> {
  const found = await readSigningKey(secrets);
  if (found !== null) return found;
  const path = secrets.placeOf("signing");
  if (!isNew) throw new SigningKeyError(`${path} is missing, and Islands have pinned its key: ${ADVICE}`);
  // Another coordinator that starts at the same time may have made one.
  return { key: keyOf(await secrets.add("signing", pemOf(newKey())), path), path, isPrivate: true };
}

/** Makes a key, which replaces an old one atomically: readers see the old one or the new one. */
export async function makeSigningKey(secrets: SharedSecrets): Promise<KeyObject> {
  const key = newKey();
  try {
    await secrets.replace("signing", pemOf(key));
  } catch (error) {
    if (!isDirectory(error)) throw error;
    throw new SigningKeyError(describeDirectory(secrets.placeOf("signing")), { cause: error });
  }
  return key;
}

const newKey = (): KeyObject => generateKeyPairSync("ed25519").privateKey;

const pemOf = (key: KeyObject): Buffer => Buffer.from(key.export({ type: "pkcs8", format: "pem" }));

const isDirectory = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EISDIR";

const describeDirectory = (path: string): string => `${path} is a directory, not a file: move it away`;

function keyOf(pem: Buffer, path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new SigningKeyError(`${path} is damaged, and Islands have pinned its key: ${ADVICE}`, { cause });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new SigningKeyError(`${path} holds a key of type ${key.asymmetricKeyType}, not an Ed25519 key: ${ADVICE}`);
}
