import { dirname, join } from "node:path";
import { lstat, mkdir, open, opendir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { systemClock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { every } from "../../shared/async/every.ts";
import { newId } from "../../shared/ids.ts";
import { counter } from "../../shared/metrics.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
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
/** Time for which the usage of all files is cached: its query reads all rows. */
const COUNT_EVERY_MS = 60_000;
/** Maximum number of files per write, so that other writes can run between two. */
const STEP = 100;
const MAX_FILENAME_CHARS = 255;

/** A received file that is not stored yet. */
interface ArrivedFile {
  /** Path of the received file in the folder `arriving`, from which it is moved. */
  readonly path: string;
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Requested lifetime; null for the default. */
  readonly expiresAfterMs: number | null;
}

interface FileContent {
  readonly file: FileRecord;
  /** Folder to which `name` is relative. */
  readonly root: string;
  readonly name: string;
}

export type Files = ReturnType<typeof openFiles>;

/** Returns the folder with the content of all files. */
export function filesDirectoryOf({
  dataDirectory,
  filesDirectory,
}: Pick<CoordinatorConfig, "dataDirectory" | "filesDirectory">): string {
  return filesDirectory ?? join(dataDirectory, "files");
}

/**
 * Opens the files of accounts: metadata in the store, content on disk. A timer removes expired files.
 * @param tokens verifies the signature of a URL with which an Island fetches a file of a job.
 */
export function openFiles(
  env: Env<
    "dataDirectory" | "fileMaxBytes" | "filesBudgetBytes" | "filesDirectory" | "keepFilesMs" | "minFreeDiskBytes"
  >,
  store: Pick<Store, "files">,
  tokens: { isFileSignature(signature: string, grant: FileGrant): boolean },
  maxFiles = 10_000,
) {
  const { config, clock, log } = env;
  const refusals = counter(
    "atoll_file_refusals_total",
    "Uploads that were refused or broken off, by error code",
    ["code"],
    ["payload_too_large", "file_budget_exceeded", "disk_full"],
  );
  const directory = filesDirectoryOf(config);
  const contents = fileContents(directory, config.minFreeDiskBytes);
  const budget = { maxBytes: config.filesBudgetBytes, maxFiles };
  const maxLifetimeMs = config.keepFilesMs === 0 ? Infinity : config.keepFilesMs;
  /** Bytes reserved for uploads in progress, so that together they exceed neither the budget nor the free space. */
  const reserved = new Pool({ account: Infinity, all: Infinity });
  const stop = new AbortController();
  let sweepNow: () => Promise<void> = () => Promise.resolve();
  let kept: Promise<FileUsage> = Promise.resolve({ files: 0, bytes: 0 });
  let keptAtMs = -Infinity;

  /** Removes expired files, and content that crashes left on disk. Several coordinators may run it concurrently. */
  async function sweep(): Promise<void> {
    let expired = 0;
    for (let done = STEP; done === STEP && !stop.signal.aborted; expired += done)
      done = await removeContents(store.files.removeExpired(clock.now(), STEP));
    if (expired > 0) log.info({ files: expired }, "Removed expired files");
    while ((await store.files.removeOldHolds(clock.now(), STEP)) === STEP && !stop.signal.aborted);
    // File times come from the disk, so they are compared with the system clock.
    const nowMs = systemClock.now();
    await contents.removeAbandoned(nowMs);
    for await (const names of contents.settledNames(nowMs)) {
      if (stop.signal.aborted) return;
      await contents.remove(await store.files.withoutFile(names));
    }
  }

  async function removeContents(step: Promise<RemovedFiles>): Promise<number> {
    const { files, blobs } = await step;
    await contents.remove(blobs);
    return files;
  }

  function locationOf(file: FileRecord): FileContent {
    return { file, root: contents.root, name: contents.pathOf(file.blob) };
  }

  /** Returns a file of the account. @throws {ServiceError} `not_found`, also if another account owns the file. */
  async function get(accountId: string, id: string): Promise<FileRecord> {
    const file = await store.files.get(accountId, id, clock.now());
    if (file === undefined) throw new ServiceError("not_found", `There is no file "${id}"`);
    return file;
  }

  return {
    metrics: [refusals],
    maxFileBytes: config.fileMaxBytes,
    arriving: contents.arriving,
    sweep,
    get,
    /** Starts to sweep in the background: now, and an hour after the end of each sweep. */
    start(): void {
      sweepNow = every({ clock, log, stop: stop.signal }, SWEEP_EVERY_MS, "clean up files", sweep);
      void sweepNow();
    },
    /** Stops sweeping and waits for the step in progress. */
    close(): Promise<void> {
      stop.abort();
      return sweepNow();
    },
    /** Runs `receive` with `maxBytes` reserved. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
    async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
      const keys: readonly PoolKey<"account" | "all">[] = [["account", accountId], ["all"]];
      try {
        const usage = await store.files.usage(accountId);
        const before = reserved.count("account", accountId);
        assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, budget);
        reserved.add(keys, maxBytes);
        try {
          await contents.assertFreeSpace(reserved.count("all"));
          return await receive();
        } finally {
          reserved.add(keys, -maxBytes);
        }
      } catch (error) {
        if (error instanceof ServiceError) refusals.add([error.code]);
        throw error;
      }
    },
    /** Returns the usage of all files of the network, at most a minute old; older while storage is unavailable. */
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
    /** Stores a received file. Resolves when it is durable. @throws {ServiceError} `file_budget_exceeded` */
    async add(accountId: string, arrived: ArrivedFile): Promise<FileRecord> {
      const nowMs = clock.now();
      const id = newId("file", nowMs);
      const { path, purpose, sizeBytes, sha256 } = arrived;
      const blob = `${sha256}-${id}`;
      const filename = cleanFilename(arrived.filename) || id;
      const lifetimeMs = Math.min(arrived.expiresAfterMs ?? Infinity, maxLifetimeMs);
      const expiresAtMs = lifetimeMs === Infinity ? null : nowMs + lifetimeMs;
      await contents.moveIn(path, blob);
      const file = { id, accountId, purpose, filename, sizeBytes, sha256, blob, createdAtMs: nowMs, expiresAtMs };
      try {
        const stored = await store.files.add(file, budget);
        if (stored.blob !== blob) await contents.remove([blob]);
        return stored;
      } catch (error) {
        // After any other error the file may be stored, so its content stays; the sweep removes it if it is not.
        if (error instanceof ServiceError && error.code === "file_budget_exceeded") await contents.remove([blob]);
        throw error;
      }
    },
    /** Returns the content of a file. @throws {ServiceError} `not_found` */
    async content(accountId: string, id: string): Promise<FileContent> {
      return locationOf(await get(accountId, id));
    },
    /** Returns at most the first `bytes` bytes of a file; null if this disk does not have the content. */
    head: ({ blob }: FileRecord, bytes: number): Promise<Uint8Array | null> => contents.head(blob, bytes),
    /**
     * Returns a file that a job or batch holds, even if it has expired. `isHere`: whether this disk has the content.
     * @throws {ServiceError} `not_found` once the job or batch has ended
     */
    async heldContent(hold: FileHold): Promise<FileContent & { readonly isHere: boolean }> {
      const file = await store.files.held(hold);
      if (file === undefined) throw new ServiceError("not_found", `There is no file "${hold.fileId}"`);
      return { ...locationOf(file), isHere: await contents.has(file.blob) };
    },
    /**
     * Returns a file of a job, for the Island that runs the job.
     * @throws {ServiceError} `not_found` if the signature is invalid, the grant has expired or its job has ended;
     *   `storage_unavailable` if this disk does not have the content
     */
    async grantedContent(grant: FileGrant, signature: string): Promise<FileContent> {
      const isValid = tokens.isFileSignature(signature, grant) && clock.now() < grant.expiresAtMs;
      const file = isValid ? await store.files.held(grant) : undefined;
      if (file === undefined) throw new ServiceError("not_found", "No unfinished job of this Island has the file");
      if (!(await contents.has(file.blob)))
        throw new ServiceError("storage_unavailable", "This coordinator's disk does not have the file's content");
      return locationOf(file);
    },
    list(accountId: string, list: Omit<FileList, "nowMs">): Promise<FileRecord[]> {
      return store.files.list(accountId, { ...list, nowMs: clock.now() });
    },
    /** Removes a file. @throws {ServiceError} `not_found`; `file_in_use` while a job or batch needs it */
    async remove(accountId: string, id: string): Promise<void> {
      await get(accountId, id);
      if ((await removeContents(store.files.remove(accountId, id, clock.now()))) > 0) return;
      await get(accountId, id);
      const message = `An unfinished job or batch needs the file "${id}"; cancel it first, or wait`;
      throw new ServiceError("file_in_use", message);
    },
    async removeAll(accountId: string): Promise<void> {
      while ((await removeContents(store.files.removeOfAccount(accountId, STEP))) > 0);
    },
  };
}

/** Returns a file name without folders, control characters or characters that databases may reject. */
function cleanFilename(filename: string): string {
  const [name = ""] = filename.split(/[/\\]/).slice(-1);
  return name
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, MAX_FILENAME_CHARS)
    .toWellFormed();
}

/** Age at which leftovers of uploads and crashes are removed; no upload takes longer. */
const ABANDONED_MS = 3_600_000;
const NAMES_AT_ONCE = 500;
const NAME = /^[0-9a-f]{64}-[0-9A-Za-z_]{1,40}$/;

/**
 * Content of files, in a directory that all coordinators of a network share: `content/<2 digits>/<SHA-256>-<id>`, and
 * `arriving/` for uploads in progress. Content never changes, and names are never reused.
 */
function fileContents(directory: string, minFreeBytes: number) {
  const root = join(directory, "content");
  const arriving = join(directory, "arriving");

  /** Returns the path of content, relative to `root`. */
  const pathOf = (blob: string): string => `${blob.slice(0, 2)}/${blob}`;

  return {
    root,
    arriving,
    pathOf,
    /**
     * Checks the free space for `bytes` more, and creates missing directories; not earlier, because a coordinator
     * without files may have no disk.
     * @throws {ServiceError} `disk_full` if less free space would remain than the operator requires
     */
    async assertFreeSpace(bytes: number): Promise<void> {
      await mkdir(arriving, { recursive: true, mode: 0o700 });
      await mkdir(root, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(directory);
      if (bavail * bsize - bytes >= minFreeBytes) return;
      const message = "The coordinator has no disk space for the file; its operator must free space";
      throw new ServiceError("disk_full", message);
    },
    /** Moves a complete file to its final path. The file is durable when this resolves. */
    async moveIn(path: string, blob: string): Promise<void> {
      await sync(path);
      const target = join(root, pathOf(blob));
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await rename(path, target);
      await sync(dirname(target));
    },
    async has(blob: string): Promise<boolean> {
      return (await lstat(join(root, pathOf(blob))).catch(() => null)) !== null;
    },
    async head(blob: string, bytes: number): Promise<Uint8Array | null> {
      await using handle = await open(join(root, pathOf(blob)), "r").catch(() => null);
      if (handle === null) return null;
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
      return buffer.subarray(0, bytesRead);
    },
    async remove(blobs: readonly string[]): Promise<void> {
      for (const blob of blobs) await rm(join(root, pathOf(blob)), { force: true });
    },
    /** Removes leftovers of uploads, and the folder of upload parts that earlier versions kept. */
    async removeAbandoned(nowMs: number): Promise<void> {
      await rm(join(directory, "uploads"), { recursive: true, force: true });
      for (const name of await namesIn(arriving)) {
        const path = join(arriving, name);
        if (await isOlder(path, nowMs - ABANDONED_MS)) await rm(path, { recursive: true, force: true });
      }
    },
    /** Yields the names of content older than {@link ABANDONED_MS}, in pages. */
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

/** Returns the names in a folder; empty if the folder does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  }
}

/** Compares modification and status time: a move changes only the latter. Returns false for a missing file. */
async function isOlder(path: string, thanMs: number): Promise<boolean> {
  const facts = await lstat(path).catch(() => null);
  return facts !== null && Math.max(facts.mtimeMs, facts.ctimeMs) < thanMs;
}

/** Makes the content of a file, or the entries of a folder, durable. Windows cannot sync folders. */
async function sync(path: string): Promise<void> {
  if (process.platform === "win32" && (await stat(path)).isDirectory()) return;
  await using handle = await open(path, "r");
  await handle.sync();
}
