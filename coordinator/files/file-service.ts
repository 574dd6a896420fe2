import { systemClock, type Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { every } from "../../shared/async/every.ts";
import { newId } from "../../shared/ids.ts";
import type { Logger } from "../../shared/logger.ts";
import { counter } from "../../shared/metrics.ts";
import { Pool, type PoolKey } from "../quotas/pool.ts";
import {
  assertFileFits,
  type FileBudget,
  type FileHold,
  type FileList,
  type FilePurpose,
  type FileRecord,
  type FileUsage,
  type RemovedFiles,
} from "../store/files/files.ts";
import type { Store } from "../store/store.ts";
import type { FileContents } from "./file-contents.ts";
import type { FileGrant, GrantSigner } from "./file-grants.ts";

const SWEEP_EVERY_MS = 3_600_000;
/** Files of the network are counted row by row. */
const COUNT_EVERY_MS = 60_000;
/** Files in one step; each is a write of its own, and other writes go between two. */
const STEP = 100;
const MAX_FILENAME_CHARS = 255;

/** A complete file that arrived. */
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

export interface FileLimits {
  readonly maxFileBytes: number;
  /** Of an account. */
  readonly budget: FileBudget;
  /** Longest life of a file; 0: no end. */
  readonly keepMs: number;
}

export interface FileServiceDeps {
  readonly store: Pick<Store, "files">;
  /** Of the addresses at which Islands fetch files of jobs. */
  readonly proofs: Pick<GrantSigner, "isFileSignature">;
  readonly contents: FileContents;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "error">;
  readonly limits: FileLimits;
}

/** A file's content on disk. */
export interface FileContent {
  readonly file: FileRecord;
  /** Folder that `name` is relative to. */
  readonly root: string;
  readonly name: string;
}

/** What the API builds on; see {@link FileService}. */
export type FileApi = Pick<
  FileService,
  | "add"
  | "arriving"
  | "content"
  | "get"
  | "grantedContent"
  | "heldContent"
  | "list"
  | "maxFileBytes"
  | "receive"
  | "remove"
>;

/** Files of accounts: facts in the store, contents on disk. It owns the timer that removes what expired. */
export class FileService {
  readonly #refusals = counter(
    "atoll_file_refusals_total",
    "Files that were not taken, by the code of the refusal",
    ["code"],
    ["payload_too_large", "file_budget_exceeded", "disk_full"],
  );
  readonly metrics = [this.#refusals];
  readonly #deps: FileServiceDeps;
  /** Bytes that uploads in progress may still become, so that those at once cannot pass the budget or fill the disk together. */
  readonly #arriving = new Pool({ account: Infinity, all: Infinity });
  readonly #stop = new AbortController();
  #kept: Promise<FileUsage> = Promise.resolve({ files: 0, bytes: 0 });
  #keptAtMs = -Infinity;
  #sweepNow: () => Promise<void> = () => Promise.resolve();

  constructor(deps: FileServiceDeps) {
    this.#deps = deps;
  }

  get maxFileBytes(): number {
    return this.#deps.limits.maxFileBytes;
  }

  /** Folder for files that arrive. */
  get arriving(): string {
    return this.#deps.contents.arriving;
  }

  /** Sweeps now, in the background, and an hour after the end of each sweep. */
  start(): void {
    this.#sweepNow = every({ ...this.#deps, stop: this.#stop.signal }, SWEEP_EVERY_MS, "clean up files", () =>
      this.sweep(),
    );
    void this.#sweepNow();
  }

  /** Ends the timer and waits for the step in progress. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#sweepNow();
  }

  /** Runs `receive` while room for `maxBytes` is set aside. @throws {ServiceError} `file_budget_exceeded`, `disk_full` */
  async receive<T>(accountId: string, maxBytes: number, receive: () => Promise<T>): Promise<T> {
    const { store, contents, limits } = this.#deps;
    const keys: readonly PoolKey<"account" | "all">[] = [["account", accountId], ["all"]];
    try {
      const usage = await store.files.usage(accountId);
      const before = this.#arriving.count("account", accountId);
      assertFileFits({ ...usage, bytes: usage.bytes + before }, maxBytes, limits.budget);
      this.#arriving.add(keys, maxBytes);
      try {
        await contents.makeRoom(this.#arriving.count("all"));
        return await receive();
      } finally {
        this.#arriving.add(keys, -maxBytes);
      }
    } catch (error) {
      if (error instanceof ServiceError) this.#refusals.add([error.code]);
      throw error;
    }
  }

  /** All files of the network, and the bytes of their contents on disk, as of a minute ago or less; while storage is away as before. */
  kept(): Promise<FileUsage> {
    const nowMs = this.#deps.clock.now();
    if (nowMs < this.#keptAtMs + COUNT_EVERY_MS) return this.#kept;
    const before = this.#kept;
    this.#keptAtMs = nowMs;
    this.#kept = this.#deps.store.files.total().catch((error: unknown) => {
      if (error instanceof ServiceError) return before;
      throw error;
    });
    return this.#kept;
  }

  /** Resolves when the file is durable. @throws {ServiceError} `file_budget_exceeded` */
  async add(accountId: string, arrived: ArrivedFile): Promise<FileRecord> {
    const { store, contents, clock, limits } = this.#deps;
    const nowMs = clock.now();
    const id = newId("file", nowMs);
    const { purpose, sizeBytes, sha256 } = arrived;
    const blob = `${sha256}-${id}`;
    const filename = cleanFilename(arrived.filename) || id;
    const livesMs = Math.min(arrived.expiresAfterMs ?? Infinity, limits.keepMs === 0 ? Infinity : limits.keepMs);
    const expiresAtMs = livesMs === Infinity ? null : nowMs + livesMs;
    await contents.place(arrived.path, blob);
    const file = { id, accountId, purpose, filename, sizeBytes, sha256, blob, createdAtMs: nowMs, expiresAtMs };
    try {
      const stored = await store.files.add(file, limits.budget);
      if (stored.blob !== blob) await contents.remove([blob]);
      return stored;
    } catch (error) {
      // Another error does not say whether the file is stored: the sweep finds out.
      if (error instanceof ServiceError && error.code === "file_budget_exceeded") await contents.remove([blob]);
      throw error;
    }
  }

  /** @throws {ServiceError} `not_found`, also for another account's. */
  async get(accountId: string, id: string): Promise<FileRecord> {
    const file = await this.#deps.store.files.get(accountId, id, this.#deps.clock.now());
    if (file === undefined) throw new ServiceError("not_found", `There is no file "${id}"`);
    return file;
  }

  /** @throws {ServiceError} `not_found` */
  async content(accountId: string, id: string): Promise<FileContent> {
    return this.#placeOf(await this.get(accountId, id));
  }

  /** What a job or batch holds, also after its expiry. `isHere`: on the disk of this coordinator. @throws {ServiceError} `not_found` once that has ended. */
  async heldContent(hold: FileHold): Promise<FileContent & { readonly isHere: boolean }> {
    const { store, contents } = this.#deps;
    const file = await store.files.held(hold);
    if (file === undefined) throw new ServiceError("not_found", `There is no file "${hold.fileId}"`);
    return { ...this.#placeOf(file), isHere: await contents.has(file.blob) };
  }

  /**
   * A file of a job, for the Island that runs it.
   * @throws {ServiceError} `not_found` for a grant that was not signed here, is over, or whose job has ended; `storage_unavailable` where
   *   this coordinator's disk does not have the content.
   */
  async grantedContent(grant: FileGrant, signature: string): Promise<FileContent> {
    const { store, proofs, contents, clock } = this.#deps;
    const isValid = proofs.isFileSignature(signature, grant) && clock.now() < grant.expiresAtMs;
    const file = isValid ? await store.files.held(grant) : undefined;
    if (file === undefined) throw new ServiceError("not_found", "No job has the file for this Island now");
    if (!(await contents.has(file.blob)))
      throw new ServiceError("storage_unavailable", "The disk of this coordinator does not have the file's content");
    return this.#placeOf(file);
  }

  #placeOf(file: FileRecord): FileContent {
    const { contents } = this.#deps;
    return { file, root: contents.root, name: contents.pathOf(file.blob) };
  }

  list(accountId: string, list: Omit<FileList, "nowMs">): Promise<FileRecord[]> {
    return this.#deps.store.files.list(accountId, { ...list, nowMs: this.#deps.clock.now() });
  }

  /** Resolves when nobody can read it any more. @throws {ServiceError} `not_found`; `file_in_use` while a job or batch needs it. */
  async remove(accountId: string, id: string): Promise<void> {
    const { store, clock } = this.#deps;
    await this.get(accountId, id);
    if ((await this.#removed(store.files.remove(accountId, id, clock.now()))) > 0) return;
    await this.get(accountId, id);
    throw new ServiceError(
      "file_in_use",
      `A job or batch that has not ended needs the file "${id}"; cancel it first, or wait`,
    );
  }

  /** All files of a deleted account. May be called again. */
  async removeAll(accountId: string): Promise<void> {
    const { files } = this.#deps.store;
    while ((await this.#removed(files.removeOfAccount(accountId, STEP))) > 0);
  }

  /** Removes files that expired, and what crashes left on disk. Every coordinator may do so at once. */
  async sweep(): Promise<void> {
    const { store, contents, clock, log } = this.#deps;
    let expired = 0;
    for (let done = STEP; done === STEP && !this.#stop.signal.aborted; expired += done)
      done = await this.#removed(store.files.removeExpired(clock.now(), STEP));
    if (expired > 0) log.info({ files: expired }, "Removed files that expired");
    while ((await store.files.removeOldHolds(clock.now(), STEP)) === STEP && !this.#stop.signal.aborted);
    // By the clock of the disk, which has its own.
    const nowMs = systemClock.now();
    await contents.removeAbandoned(nowMs);
    for await (const names of contents.settledNames(nowMs)) {
      if (this.#stop.signal.aborted) return;
      await contents.remove(await store.files.withoutFile(names));
    }
  }

  async #removed(step: Promise<RemovedFiles>): Promise<number> {
    const { files, blobs } = await step;
    await this.#deps.contents.remove(blobs);
    return files;
  }
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
