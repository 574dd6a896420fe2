import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ConfigFile } from "../../shared/settings.ts";
import { writeFileDurably } from "../disk/durable-file.ts";
import { setKey } from "./set-key.ts";

export const CONFIG_FILE_NAME = "config.toml";

interface StoredConfigFile extends ConfigFile {
  /** False when other users of the machine can read the file, and with it the Island token. Always true on Windows. */
  readonly isPrivate: boolean;
}

/** Reads config.toml of the data directory; null if it does not exist. @throws when it cannot be read. */
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
 * Sets one key of the data directory's config.toml, or removes it (null). Readers see either the old file or the
 * complete new one.
 * @throws {ConfigError} for an unknown key or an invalid value; nothing is written.
 */
export function storeKey(dataDirectory: string, key: string, value: string | null): Promise<void> {
  return storeKeys(dataDirectory, { [key]: value });
}

/** Sets or removes several keys in one write. @throws errors of {@link storeKey}. */
export async function storeKeys(dataDirectory: string, values: Readonly<Record<string, string | null>>): Promise<void> {
  const path = join(dataDirectory, CONFIG_FILE_NAME);
  const present = await readConfigFile(dataDirectory);
  let text = present?.text ?? "";
  for (const [key, value] of Object.entries(values)) text = setKey({ name: path, text }, key, value);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // Readable only by its owner, because the file holds the Island token.
  await writeFileDurably(path, text);
}
