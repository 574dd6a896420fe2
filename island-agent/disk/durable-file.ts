import { randomUUID } from "node:crypto";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Replaces a file in one step, readable only by its owner. After a crash it holds the old text or the new one. */
export async function writeFileDurably(path: string, text: string): Promise<void> {
  await writeAndMove(path, text, rename);
}

/** Creates a file in one step, readable only by its owner. No-op when it exists. */
export async function createFileDurably(path: string, text: string): Promise<void> {
  await writeAndMove(path, text, async (temporary) => {
    try {
      await link(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  });
}

/** Makes renames and removals in a directory durable across a power cut. Windows has no such call. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function writeAndMove(
  path: string,
  text: string,
  move: (temporary: string, path: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await move(temporary, path);
  } finally {
    // A renamed file no longer exists.
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(path));
}
