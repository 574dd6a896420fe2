import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SecretName, SharedSecrets } from "./shared-secrets.ts";

const OWNER_ONLY = 0o600;
const FILES: Readonly<Record<SecretName, { readonly file: string; readonly mode: number }>> = {
  proofs: { file: "claims.key", mode: OWNER_ONLY },
  signing: { file: "signing.key", mode: OWNER_ONLY },
  signing_in_use: { file: "signing.pub", mode: 0o644 },
};

/** Opens the secrets of a single coordinator, stored as files of its data directory. */
export function fileSecrets(directory: string): SharedSecrets {
  const pathOf = (name: SecretName): string => join(directory, FILES[name].file);
  return {
    locationOf: pathOf,
    read: (name) => readIfThere(pathOf(name)),
    add: (name, value) => addFile(pathOf(name), value, FILES[name].mode),
    replace: (name, value) => put(pathOf(name), value, FILES[name].mode, rename),
    // Windows has no such mode bits.
    isPrivate: async (name) => process.platform === "win32" || ((await stat(pathOf(name))).mode & 0o077) === 0,
  };
}

export async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return null;
  }
}

/** Creates the file unless it exists. Returns its content, the same for all processes that start at once. */
export async function addFile(path: string, value: Buffer, mode = OWNER_ONLY): Promise<Buffer> {
  try {
    await put(path, value, mode, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return (await readIfThere(path)) ?? value;
}

/** Writes a temporary file and moves it to `path`, so that readers never see a partial file. */
async function put(path: string, value: Buffer, mode: number, move: typeof link): Promise<void> {
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    await writeFile(partial, value, { mode, flag: "wx", flush: true });
    await move(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  await syncDirectory(dirname(path));
}

/** Makes a new file name durable. Windows cannot sync directories. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
