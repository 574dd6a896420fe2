import { mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folder that Linux keeps in memory, where a sync is free. */
const MEMORY_FOLDER = "/dev/shm";
const MIN_FREE_BYTES = 512 * 2 ** 20;

/** Creates a directory for databases whose durability is not tested. It is in memory if there is enough space. */
export async function makeFastDirectory(prefix: string): Promise<string> {
  return mkdtemp(join((await hasCapacity()) ? MEMORY_FOLDER : tmpdir(), prefix));
}

async function hasCapacity(): Promise<boolean> {
  const found = await statfs(MEMORY_FOLDER).catch(() => null);
  return found !== null && found.bavail * found.bsize >= MIN_FREE_BYTES;
}
