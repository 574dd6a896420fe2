import { lstat, mkdir, open, opendir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ServiceError } from "../../shared/errors.ts";

/** What an upload or a crash left is removed after this long; no upload takes longer. */
const ABANDONED_MS = 3_600_000;
const NAMES_AT_ONCE = 500;
const NAME = /^[0-9a-f]{64}-[0-9A-Za-z_]{1,40}$/;

/**
 * Contents of files on disk, below one directory that all coordinators of a network share: `content/<2 digits>/<SHA-256>-<id>`, and
 * `arriving/` for what is still being received. A content never changes, and its name is never used again.
 */
export function fileContents(directory: string, minFreeBytes: number) {
  const root = join(directory, "content");
  const arriving = join(directory, "arriving");

  /** Below `root`, with slashes. */
  const pathOf = (blob: string): string => `${blob.slice(0, 2)}/${blob}`;

  return {
    /** Folder that {@link pathOf} is relative to. */
    root,
    /** Folder for uploads in progress, on the disk of the contents. */
    arriving,
    pathOf,
    /**
     * Makes the directories where they are missing: not before there is a file, as a coordinator without files may have no disk.
     * @throws {ServiceError} `disk_full` if so many bytes more would leave less than the operator wants free. File system errors pass
     *   through.
     */
    async makeRoom(bytes: number): Promise<void> {
      await mkdir(arriving, { recursive: true, mode: 0o700 });
      await mkdir(root, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(directory);
      if (bavail * bsize - bytes >= minFreeBytes) return;
      throw new ServiceError("disk_full", "The coordinator has no room for the file; its operator has to make some");
    },
    /** Moves a complete file of `arriving` to its place. Durable when it resolves. */
    async place(path: string, blob: string): Promise<void> {
      await sync(path);
      const target = join(root, pathOf(blob));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(path, target);
      await sync(dirname(target));
    },
    async has(blob: string): Promise<boolean> {
      return (await lstat(join(root, pathOf(blob))).catch(() => null)) !== null;
    },
    async remove(blobs: readonly string[]): Promise<void> {
      for (const blob of blobs) await rm(join(root, pathOf(blob)), { force: true });
    },
    /** Removes files that no coordinator is receiving any more, and the parts of uploads that earlier versions kept. */
    async removeAbandoned(nowMs: number): Promise<void> {
      await rm(join(directory, "uploads"), { recursive: true, force: true });
      for (const name of await namesIn(arriving)) {
        const path = join(arriving, name);
        if (await isOlder(path, nowMs - ABANDONED_MS)) await rm(path, { recursive: true, force: true });
      }
    },
    /** Names of the contents that have been here for a while, some at a time. */
    async *settledNames(nowMs: number): AsyncGenerator<string[]> {
      let names: string[] = [];
      for (const folder of await namesIn(root)) {
        for await (const { name } of await opendir(join(root, folder))) {
          if (!NAME.test(name)) continue;
          if (!(await isOlder(join(root, folder, name), nowMs - ABANDONED_MS))) continue;
          names.push(name);
          if (names.length < NAMES_AT_ONCE) continue;
          yield names;
          names = [];
        }
      }
      if (names.length > 0) yield names;
    },
  };
}

/** None of a folder that is not there. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  }
}

/** By its status, which a move renews too; false for what is gone meanwhile. */
async function isOlder(path: string, thanMs: number): Promise<boolean> {
  const facts = await lstat(path).catch(() => null);
  return facts !== null && Math.max(facts.mtimeMs, facts.ctimeMs) < thanMs;
}

/** Makes a file's content, or a folder's names, durable. Windows cannot for folders. */
async function sync(path: string): Promise<void> {
  if (process.platform === "win32" && (await stat(path)).isDirectory()) return;
  await using handle = await open(path, "r");
  await handle.sync();
}
