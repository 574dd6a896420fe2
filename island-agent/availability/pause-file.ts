import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Name of the file that exists while the owner has paused the Island, so that a restart does not resume it. */
const FILE_NAME = "paused";

/** @throws when the directory cannot be read. */
export async function readPause(dataDirectory: string): Promise<boolean> {
  try {
    await stat(join(dataDirectory, FILE_NAME));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

export async function storePause(dataDirectory: string, isPaused: boolean): Promise<void> {
  const file = join(dataDirectory, FILE_NAME);
  await (isPaused ? writeFile(file, "") : rm(file, { force: true }));
}
