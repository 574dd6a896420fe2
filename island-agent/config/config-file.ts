import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ConfigFile } from "../../shared/settings.ts";
import { setKey } from "./set-key.ts";

export const CONFIG_FILE_NAME = "config.toml";
/** The file holds the Island token. */
const OWNER_ONLY = 0o600;

export interface StoredConfigFile extends ConfigFile {
  /** False where others of the machine can read the file, and with it the token. Always true on Windows. */
  readonly isPrivate: boolean;
}

/** config.toml of the data directory; null when there is none. @throws when it cannot be read. */
export async function readConfigFile(dataDirectory: string): Promise<StoredConfigFile | null> {
  const path = join(dataDirectory, CONFIG_FILE_NAME);
  try {
    const text = await readFile(path, "utf8");
    const { mode } = await stat(path);
    return { name: path, text, isPrivate: process.platform === "win32" || (mode & 0o077) === 0 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Sets one key of the data directory's config.toml, or takes it out (null). Readers see the old file or the new one, never a part.
 * @throws {ConfigError} for an unknown key or a value that is not allowed; nothing is written.
 */
export function storeKey(dataDirectory: string, key: string, value: string | null): Promise<void> {
  return storeKeys(dataDirectory, { [key]: value });
}

/** As {@link storeKey}, all of them in one write. @throws {ConfigError} */
export async function storeKeys(dataDirectory: string, values: Readonly<Record<string, string | null>>): Promise<void> {
  const path = join(dataDirectory, CONFIG_FILE_NAME);
  const present = await readConfigFile(dataDirectory);
  let text = present?.text ?? "";
  for (const [key, value] of Object.entries(values)) text = setKey({ name: path, text }, key, value);
  await writePrivately(path, text);
}

async function writePrivately(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomUUID()}.partial`;
  try {
    const handle = await open(partial, "wx", OWNER_ONLY);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
