import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { modelKey, type ModelRef } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { shutdownFailure } from "../../../shared/errors.ts";
import { recentMap } from "../../../shared/recent-map.ts";
import { lockDirectory, type DirectoryLock } from "../../disk/directory-lock.ts";
import { DiskBudget, type DiskUsage } from "../../disk/disk-budget.ts";
import { DiskFullError } from "../../disk/disk-full-error.ts";
import { freeBytesOn } from "../../disk/free-bytes.ts";
import type { IndexFileWriter } from "../../disk/index-file.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../../disk/stored-item.ts";
import { downloadModel, type Download } from "../download/download.ts";
import { resolveFetchPolicy, type FetchOptions, type FetchPolicy } from "../download/fetch-policy.ts";
import { parseModelSource } from "../download/model-source.ts";
import { removePart } from "../download/part-file.ts";
import type { SharedDownload } from "../download/shared-download.ts";
import { SharedDownloads } from "../download/shared-downloads.ts";
import type { DownloadProgress } from "../download/transfer.ts";
import { ModelDirectoryError } from "./model-directory-error.ts";
import { ModelFiles, type HeldModel, type ModelLease } from "./model-files.ts";
import { modelIndexWriter } from "./model-index.ts";
import { fileNameOf, recoverStore, stemOf, type RecoveredStore } from "./store-recovery.ts";

interface ModelStoreOptions {
  /** Created when missing. Belongs to one process at a time. */
  readonly directory: string;
  readonly budgetBytes: number;
  readonly minFreeBytes: number;
  readonly clock: Clock;
  readonly fetch: FetchOptions;
}

/** Minimum interval between writes that only update times of use, so that a job does not cost a disk write. */
const USE_WRITE_INTERVAL_MS = 60_000;
const MAX_ANNOUNCED = 1_000;

/** Stores the models on this Island's disk. The only writer of its directory. */
export class ModelStore {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #policy: FetchPolicy;
  readonly #lock: DirectoryLock;
  readonly #files: ModelFiles;
  readonly #budget: DiskBudget;
  readonly #index: IndexFileWriter;
  readonly #downloads = new SharedDownloads<ModelLease>();
  /** Length of files that did not fit, by key, if only their server reports it. */
  readonly #announcedBytes = recentMap<number>(MAX_ANNOUNCED);
  #useSavedMs: number;
  #isClosed = false;

  private constructor(options: ModelStoreOptions, policy: FetchPolicy, lock: DirectoryLock, found: RecoveredStore) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#useSavedMs = options.clock.now();
    this.#policy = policy;
    this.#lock = lock;
    this.#files = new ModelFiles(options.directory, options.clock, found);
    const { directory, budgetBytes, minFreeBytes } = options;
    this.#budget = new DiskBudget(
      { budgetBytes, minFreeBytes, freeBytes: () => freeBytesOn(directory) },
      () => this.#items(),
      (key) => this.#files.delete(key),
    );
    this.#index = modelIndexWriter(options.directory, () => this.#files.indexed());
  }

  /**
   * Opens the directory as the previous process left it, even after a crash. Evicts when the budget is smaller than
   * before.
   * @throws {DirectoryInUseError | ModelDirectoryError | TypeError} a TypeError for an invalid URL in `fetch`.
   */
  static async open(options: ModelStoreOptions): Promise<ModelStore> {
    const policy = resolveFetchPolicy(options.fetch);
    try {
      return await ModelStore.#open(options, policy);
    } catch (error) {
      throw ModelDirectoryError.of(options.directory, error) ?? error;
    }
  }

  static async #open(options: ModelStoreOptions, policy: FetchPolicy): Promise<ModelStore> {
    await mkdir(options.directory, { recursive: true, mode: 0o700 });
    const lock = await lockDirectory(options.directory);
    try {
      const store = new ModelStore(options, policy, lock, await recoverStore(options.directory, options.clock.now()));
      await store.#budget.trim();
      await store.#index.write();
      // Runs only after the index is written. Until then, recovering an adopted model after a crash needs the part's
      // facts.
      for (const key of store.#files.keys()) await removePart(store.#files.stemPath(key));
      return store;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * Leases the model's file, and downloads it when it is missing. All callers share one download. It stops when the
   * last of them has aborted, and its bytes are kept.
   * @param slug Cargo that needs the model, as reported by `downloads()`.
   * @param mayEvict whether other models may be deleted for it.
   * @throws {JobFailure} or `signal.reason`.
   */
  async acquire(
    slug: string,
    ref: ModelRef,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void = () => undefined,
    mayEvict = true,
  ): Promise<ModelLease> {
    const key = modelKey(ref);
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed) throw shutdownFailure();
      const model = this.#files.get(key);
      if (model === undefined) {
        const download = this.#downloads.joinOrStart(key, (shared, stopped) => this.#run(shared, ref, stopped));
        return download.join(slug, signal, onProgress, mayEvict);
      }
      const lease = this.#files.lease(model);
      if (await this.#files.isIntact(model)) {
        this.#saveUse();
        if (!signal.aborted) return lease;
      } else if (this.#files.get(key) === model) await this.#files.delete(key);
      lease.release();
    }
  }

  /**
   * Adopts a verified file of this directory as the model with that SHA-256, without a download.
   * @param extension of the file's name, without the dot; may be empty.
   * @returns false, and leaves the file, when the model is already here or being downloaded.
   * @throws {DiskFullError} when it does not fit the budget.
   */
  async adopt(path: string, sha256: string, extension: string): Promise<boolean> {
    if (this.#isClosed) throw shutdownFailure();
    if (this.has(sha256) || this.#downloads.has(sha256)) return false;
    await this.#files.deleted(sha256);
    const { size } = await stat(path);
    await this.#budget.reserve(sha256, size, size);
    try {
      const fileName = fileNameOf(sha256, extension);
      await rename(path, join(this.#directory, fileName));
      this.#files.add(sha256, fileName, size);
      await this.#recordModel(sha256);
      return true;
    } finally {
      this.#budget.release(sha256);
    }
  }

  /** Returns whether the complete model is here; false while it is being downloaded. */
  has(key: string): boolean {
    return this.#files.get(key) !== undefined;
  }

  /** @see DiskBudget.assertFits */
  assertFits(files: ReadonlyMap<string, number>, mayEvict = true): void {
    this.#budget.assertFits(files, mayEvict);
  }

  /** Checks like `assertFits`, by the known length of each file. @throws {DiskFullError} */
  assertModelsFit(refs: readonly ModelRef[]): void {
    const lengths = refs.map((ref) => [modelKey(ref), ref.sizeBytes ?? this.#announcedBytes.get(modelKey(ref)) ?? 0]);
    this.#budget.assertFits(new Map(lengths as [string, number][]));
  }

  list(): StoredItem[] {
    return this.#files.models();
  }

  /** Returns partial files of interrupted and running downloads. */
  parts(): StoredItem[] {
    return this.#files.parts().map((part) => ({ ...part, inUse: this.#downloads.has(part.key) }));
  }

  /** Returns one entry for each Cargo that waits for a download. */
  downloads(): DownloadStatus[] {
    return this.#downloads.status();
  }

  /** @see DiskBudget.takenBytes */
  takenBytes(keys: ReadonlySet<string>): number {
    return this.#budget.takenBytes(keys);
  }

  usage(): DiskUsage {
    return this.#budget.usage();
  }

  /** Deletes a model, or its part. `in_use`: it is leased or being downloaded. */
  async remove(key: string): Promise<RemoveOutcome> {
    const item = this.#items().find((candidate) => candidate.key === key);
    if (item?.inUse === true || this.#downloads.has(key)) return "in_use";
    if (item === undefined) return "absent";
    await this.#files.delete(key);
    await this.#index.write();
    return "removed";
  }

  /** Deletes all models and parts that are not in use. */
  async prune(): Promise<{ removed: number; freedBytes: number }> {
    const items = this.#items().filter(({ key, inUse }) => !inUse && !this.#downloads.has(key));
    for (const { key } of items) await this.#files.delete(key);
    await this.#index.write();
    return { removed: items.length, freedBytes: items.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Stops downloads, keeps their parts, and waits until files and sockets are closed. Leases stay readable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#downloads.close(shutdownFailure());
    try {
      await this.#index.write();
    } finally {
      await this.#lock.release();
    }
  }

  /** Runs a download. Never rejects: `shared` settles callers. A stopped download may still have the part open. */
  async #run(shared: SharedDownload<ModelLease>, ref: ModelRef, stopped: Promise<unknown>): Promise<void> {
    await stopped;
    try {
      await this.#files.deleted(shared.key);
      const model = this.#files.get(shared.key) ?? (await this.#fetch(shared, ref));
      // Leased until the callers have their own leases, so that it is not evicted in between.
      const hold = this.#files.lease(model);
      await this.#recordModel(model.key);
      shared.succeed(() => this.#files.lease(model));
      hold.release();
    } catch (error) {
      shared.fail(error);
    }
  }

  async #fetch(shared: SharedDownload<ModelLease>, ref: ModelRef): Promise<HeldModel> {
    const { key } = shared;
    const source = parseModelSource(ref.url, this.#policy);
    const stem = stemOf(key);
    const fileName = fileNameOf(key, source.extension);
    const download: Download = {
      key,
      source,
      expected: { sha256: ref.sha256, bytes: ref.sizeBytes },
      directory: this.#directory,
      stem,
      fileName,
      reserve: (bytes, writtenBytes) => this.#reserve(shared, bytes, writtenBytes),
      onProgress: (progress) => {
        this.#budget.recordWritten(key, progress.receivedBytes);
        shared.report(progress);
      },
    };
    try {
      const bytes = await downloadModel(download, { policy: this.#policy, clock: this.#clock }, shared.signal);
      return this.#files.add(key, fileName, bytes);
    } catch (error) {
      await this.#files.recordPart(key);
      throw error;
    } finally {
      this.#budget.release(key);
    }
  }

  async #reserve(shared: SharedDownload<ModelLease>, bytes: number, writtenBytes: number): Promise<void> {
    try {
      await this.#budget.reserve(shared.key, bytes, writtenBytes, () => shared.mayEvict);
    } catch (error) {
      if (error instanceof DiskFullError) this.#announcedBytes.set(shared.key, bytes);
      throw error;
    }
  }

  /** Records a model. If the index cannot be written, the part's facts recover the model after a crash. */
  async #recordModel(key: string): Promise<void> {
    try {
      await this.#index.write();
    } catch {
      return;
    }
    await removePart(this.#files.stemPath(key));
  }

  #items(): StoredItem[] {
    return [...this.list(), ...this.parts()];
  }

  #saveUse(): void {
    const nowMs = this.#clock.now();
    if (Math.abs(nowMs - this.#useSavedMs) < USE_WRITE_INTERVAL_MS) return;
    this.#useSavedMs = nowMs;
    // If the write fails, the next one includes the same times.
    this.#index.write().catch(() => undefined);
  }
}
