import { dirname, join } from "node:path";
import { lstat, mkdir, open, opendir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { systemClock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { every } from "../../shared/async/every.ts";
import { newId } from "../../shared/ids.ts";
import { counter } from "../../shared/metrics.ts";
import type { Env } from "../env.ts";
import { Pool, type PoolKey } from "../quotas/pool.ts";
import {
  assertFileFits,
  type FileHold,
  type FileList,
  type FilePurpose,
  type FileRecord,
  type FileUsage,
  type RemovedFiles,
} from "../store/files/files.ts";
import type { Store } from "../store/store.ts";
import type { FileGrant } from "./file-grants.ts";

const SWEEP_EVERY_MS = 3_600_000;
/** Files of the network are counted row by row. */
const COUNT_EVERY_MS = 60_000;
/** Files in one step; each is a write of its own, and other writes go between two. */
const STEP = 100;
const MAX_FILENAME_CHARS = 255;

interface ArrivedFile {
  /** Below the folder for files that arrive; it is moved away. */
  readonly path: string;
  /** As the client gave it. */
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Null: as long as files are kept. */
  readonly expiresAfterMs: number | null;
}

interface FileContent {
  readonly file: FileRecord;
  /** Folder that `name` is relative to. */
  readonly root: string;
  readonly name: string;
}

export type Files = ReturnType<typeof openFiles>;

/**
 * Files of accounts: facts in the store, contents on disk. It owns the timer that removes what expired.
 * @param proofs Checks the signature of an address at which an Island fetches a file of a job.
 * @param maxFiles Most files of an account.
 */
export function openFiles(
  {
    config,
    clock,
    log,
  }: Env<"dataDirectory" | "fileMaxBytes" | "filesBudgetBytes" | "filesDirectory" | "keepFilesMs" | "minFreeDiskBytes">,
  store: Pick<Store, "files">,
  proofs: { isFileSignature(signature: string, grant: FileGrant): boolean },
  maxFiles = 10_000,
) {
  const refusals = counter(
    "atoll_file_refusals_total",
    "Uploads that were refused or broken off, by error code",
    ["code"],
    ["payload_too_large", "file_budget_exceeded", "disk_full"],
  );
  const directory = config.filesDirectory ?? join(config.dataDirectory, "files");
  const contents = fileContents(directory, config.minFreeDiskBytes);
  const budget = { maxBytes: config.filesBudgetBytes, maxFiles };
  /** Longest life of a file. */
  const keepMs = config.keepFilesMs === 0 ? Infinity : config.keepFilesMs;
  /** Bytes that uploads in progress may still become, so that those at once cannot pass the budget or fill the disk together. */
  const arriving = new Pool({ account: Infinity, all: Infinity });
  const stop = new AbortController();
  let sweepNow: () => Promise<void> = () => Promise.resolve();
  let kept: Promise<FileUsage> = Promise.resolve({ files: 0, bytes: 0 });
  let keptAtMs = -Infinity;

  /** Removes files that expired, and what crashes left on disk. Every coordinator may do so at once. */
  async function sweep(): Promise<void> {
    let expired = 0;
    for (let done = STEP; done === STEP && !stop.signal.aborted; expired += done)
      done = await removed(store.files.removeExpired(clock.now(), STEP));
    if (expired > 0) log.info({ files: expired }, "Removed files that expired");
    while ((await store.files.removeOldHolds(clock.now(), STEP)) === STEP && !stop.signal.aborted);
    // By the clock of the disk, which has its own.
    const nowMs = systemClock.now();
    await contents.removeAbandoned(nowMs);
    for await (const names of contents.settledNames(nowMs)) {
      if (stop.signal.aborted) return;
      await contents.remove(await store.files.withoutFile(names));
    }
  }

  async function removed(step: Promise<RemovedFiles>): Promise<number> {
    const { files, blobs } = await step;
    await contents.remove(blobs);
    return files;
  }

  function placeOf(file: FileRecord): FileContent {
    return { file, root: contents.root, name: contents.pathOf(file.blob) };
  }

  /** @throws {ServiceError} `not_found`, also for another account's. */
  async function get(accountId: string, id: string): Promise<FileRecord> {
    const file = await store.files.get(accountId, id, clock.now());
    if (file === undefined) throw new ServiceError("not_found", `There is no file "${id}"`);
    return file;
  }

  return {
    metrics: [refusals],
    maxFileBytes: config.fileMaxBytes,
    /** Folder for files that arrive. */
    arriving: contents.arriving,
    sweep,
    get,
    /** Sweeps now, in the background, and an hour after the end of each sweep. */
    start(): void {
      sweepNow = every({ clock, log, stop: stop.signal }, SWEEP_EVERY_MS, "clean up files", sweep);
      void sweepNow();
    },
    /** Ends the timer and waits for the step in progress. */
    close(): Promise<void> {
      stop.abort();
      return sweepNow();
    },
    /** Runs `receive` while room for `maxBytes` is set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
    async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
      const keys: readonly PoolKey<"account" | "all">[] = [["account", accountId], ["all"]];
      try {
        const usage = await store.files.usage(accountId);
        const before = arriving.count("account", accountId);
        assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, budget);
        arriving.add(keys, maxBytes);
        try {
          await contents.freeSpace(arriving.count("all"));
          return await receive();
        } finally {
          arriving.add(keys, -maxBytes);
        }
      } catch (error) {
        if (error instanceof ServiceError) refusals.add([error.code]);
        throw error;
      }
    },
    /** All files of the network, and the bytes of their contents on disk, as of a minute ago or less; while storage is away as before. */
    kept(): Promise<FileUsage> {
      const nowMs = clock.now();
      if (nowMs < keptAtMs + COUNT_EVERY_MS) return kept;
      const before = kept;
      keptAtMs = nowMs;
      kept = store.files.total().catch((error: unknown) => {
        if (error instanceof ServiceError) return before;
        throw error;
      });
      return kept;
    },
    /** Resolves when the file is durable. @throws {ServiceError} `file_budget_exceeded` */
    async add(accountId: string, arrived: ArrivedFile): Promise<FileRecord> {
      const nowMs = clock.now();
      const id = newId("file", nowMs);
      const { purpose, sizeBytes, sha256 } = arrived;
      const blob = `${sha256}-${id}`;
      const filename = cleanFilename(arrived.filename) || id;
      const livesMs = Math.min(arrived.expiresAfterMs ?? Infinity, keepMs);
      const expiresAtMs = livesMs === Infinity ? null : nowMs + livesMs;
      await contents.place(arrived.path, blob);
      const file = { id, accountId, purpose, filename, sizeBytes, sha256, blob, createdAtMs: nowMs, expiresAtMs };
      try {
        const stored = await store.files.add(file, budget);
        if (stored.blob !== blob) await contents.remove([blob]);
        return stored;
      } catch (error) {
        // Another error does not say whether the file is stored: the sweep finds out.
        if (error instanceof ServiceError && error.code === "file_budget_exceeded") await contents.remove([blob]);
        throw error;
      }
    },
    /** @throws {ServiceError} `not_found` */
    async content(accountId: string, id: string): Promise<FileContent> {
      return placeOf(await get(accountId, id));
    },
    /**
     * What a job or batch holds, also after its expiry. `isHere`: on the disk of this coordinator.
     * @throws {ServiceError} `not_found` once that has ended.
     */
    async heldContent(hold: FileHold): Promise<FileContent & { readonly isHere: boolean }> {
      const file = await store.files.held(hold);
      if (file === undefined) throw new ServiceError("not_found", `There is no file "${hold.fileId}"`);
      return { ...placeOf(file), isHere: await contents.has(file.blob) };
    },
    /**
     * A file of a job, for the Island that runs it.
     * @throws {ServiceError} `not_found` for a grant that was not signed here, is over, or whose job has ended; `storage_unavailable`
     *   where this coordinator's disk does not have the content.
     */
    async grantedContent(grant: FileGrant, signature: string): Promise<FileContent> {
      const isValid = proofs.isFileSignature(signature, grant) && clock.now() < grant.expiresAtMs;
      const file = isValid ? await store.files.held(grant) : undefined;
      if (file === undefined) throw new ServiceError("not_found", "No job has the file for this Island now");
      if (!(await contents.has(file.blob)))
        throw new ServiceError("storage_unavailable", "The disk of this coordinator does not have the file's content");
      return placeOf(file);
    },
    list(accountId: string, list: Omit<FileList, "nowMs">): Promise<FileRecord[]> {
      return store.files.list(accountId, { ...list, nowMs: clock.now() });
    },
    /** Resolves when nobody can read it any more. @throws {ServiceError} `not_found`; `file_in_use` while a job or batch needs it. */
    async remove(accountId: string, id: string): Promise<void> {
      await get(accountId, id);
      if ((await removed(store.files.remove(accountId, id, clock.now()))) > 0) return;
      await get(accountId, id);
      throw new ServiceError(
        "file_in_use",
        `A job or batch that has not ended needs the file "${id}"; cancel it first, or wait`,
      );
    },
    /** All files of a deleted account. May be called again. */
    async removeAll(accountId: string): Promise<void> {
      while ((await removed(store.files.removeOfAccount(accountId, STEP))) > 0);
    },
  };
}

/** No folders, no control characters, and text that every database takes. */
function cleanFilename(filename: string): string {
  const [name = ""] = filename.split(/[/\\]/).slice(-1);
  return name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, MAX_FILENAME_CHARS)
    .toWellFormed();
}

/** What an upload or a crash left is removed after this long; no upload takes longer. */
const ABANDONED_MS = 3_600_000;
const NAMES_AT_ONCE = 500;
const NAME = /^[0-9a-f]{64}-[0-9A-Za-z_]{1,40}$/;

/**
 * Contents of files on disk, below one directory that all coordinators of a network share: `content/<2 digits>/<SHA-256>-<id>`, and
 * `arriving/` for what is still being received. A content never changes, and its name is never used again.
 */
function fileContents(directory: string, minFreeBytes: number) {
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
    async freeSpace(bytes: number): Promise<void> {
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
