import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SecretName, SharedSecrets } from "./shared-secrets.ts";

const OWNER_ONLY = 0o600;
const FILES: Readonly<Record<SecretName, { readonly file: string; readonly mode: number }>> = {
  proofs: { file: "claims.key", mode: OWNER_ONLY },
  signing: { file: "signing.key", mode: OWNER_ONLY },
  signing_in_use: { file: "signing.pub", mode: 0o644 },
};

/** The secrets of one coordinator: files of its data directory. */
export class FileSecrets implements SharedSecrets {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  placeOf(name: SecretName): string {
    return join(this.#directory, FILES[name].file);
  }

  async read(name: SecretName): Promise<Buffer | null> {
    try {
      return await readFile(this.placeOf(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return null;
    }
  }

  async add(name: SecretName, value: Buffer): Promise<Buffer> {
    try {
      // Never in place of what a process wrote that starts at the same time.
      await this.#put(name, value, link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    return (await this.read(name)) ?? value;
  }

  async replace(name: SecretName, value: Buffer): Promise<void> {
    await this.#put(name, value, rename);
  }

  async isPrivate(name: SecretName): Promise<boolean> {
    // Windows has no such bits.
    return process.platform === "win32" || ((await stat(this.placeOf(name))).mode & 0o077) === 0;
  }

  /** Whole or not at all. */
  async #put(name: SecretName, value: Buffer, move: (from: string, to: string) => Promise<void>): Promise<void> {
    const path = this.placeOf(name);
    const partial = `${path}.${randomUUID()}.partial`;
    try {
      await writeFile(partial, value, { mode: FILES[name].mode, flag: "wx", flush: true });
      await move(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
    await syncDirectory(this.#directory);
  }
}

/** Makes the new name durable. Windows has no such call. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
