import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { modelKey, type ModelRef } from "../../../shared/cargo.ts";
import type { Clock } from "../../../shared/clock.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { DiskBudget, type DiskUsage } from "../../disk/disk-budget.ts";
import type { IndexFileWriter } from "../../disk/index-file.ts";
import type { DownloadStatus, RemoveOutcome, StoredItem } from "../../disk/stored-item.ts";
import { lockDirectory, type DirectoryLock } from "../../disk/directory-lock.ts";
import { downloadModel, type Download } from "../download/download.ts";
import { resolveFetchPolicy, type FetchOptions, type FetchPolicy } from "../download/fetch-policy.ts";
import { ModelDirectoryError } from "./model-directory-error.ts";
import { modelIndexWriter, type IndexedModel } from "./model-index.ts";
import { parseModelSource, type ModelSource } from "../download/model-source.ts";
import { diskFailure, partPath, removePart } from "../download/part-file.ts";
import { SharedDownload } from "../download/shared-download.ts";
import { recoverStore, stemOf, type IdlePart, type RecoveredStore } from "./store-recovery.ts";
import type { DownloadProgress } from "../download/transfer.ts";

export interface ModelStoreOptions {
  /** Made when missing. Belongs to one process at a time. */
  readonly directory: string;
  readonly budgetBytes: number;
  readonly clock: Clock;
  readonly fetch: FetchOptions;
}

/** A verified model on disk that is not deleted before `release`, which may be called more than once. */
export interface ModelLease {
  readonly path: string;
  readonly key: string;
  readonly bytes: number;
  release(): void;
}

const USE_SAVE_MS = 60_000;

interface HeldModel extends Omit<IndexedModel, "lastUsedMs"> {
  lastUsedMs: number;
  leases: number;
}

/** The models on this Island's disk. The only writer of its directory. */
export class ModelStore {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #policy: FetchPolicy;
  readonly #lock: DirectoryLock;
  readonly #budget: DiskBudget;
  readonly #index: IndexFileWriter;
  readonly #models = new Map<string, HeldModel>();
  readonly #parts = new Map<string, IdlePart>();
  readonly #downloads = new Map<string, SharedDownload<ModelLease>>();
  /** Every download not yet at rest, with those that were stopped; resolve, never reject. */
  readonly #running = new Map<SharedDownload<ModelLease>, Promise<void>>();
  readonly #deletions = new Map<string, Promise<void>>();
  #lastUseMs = 0;
  #useSavedMs: number;
  #isClosed = false;

  private constructor(options: ModelStoreOptions, policy: FetchPolicy, lock: DirectoryLock, found: RecoveredStore) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#useSavedMs = options.clock.now();
    this.#policy = policy;
    this.#lock = lock;
    for (const model of found.models) this.#models.set(model.key, { ...model, leases: 0 });
    for (const part of found.parts) this.#parts.set(part.key, part);
    this.#lastUseMs = Math.max(0, ...found.models.map(({ lastUsedMs }) => lastUsedMs));
    this.#budget = new DiskBudget(
      options.budgetBytes,
      () => this.#items(),
      (key) => this.#delete(key),
    );
    this.#index = modelIndexWriter(options.directory, () =>
      [...this.#models.values()].map(({ key, file, bytes, lastUsedMs }) => ({ key, file, bytes, lastUsedMs })),
    );
  }

  /**
   * Opens the directory as the last process left it, whatever ended that one. A smaller budget than before evicts.
   * @throws {DirectoryInUseError | ModelDirectoryError | TypeError} the last for a bad URL in `fetch`.
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
      // Only now: facts beside an adopted model are what would bring it back after a crash.
      for (const key of store.#models.keys()) await removePart(store.#stemPath(key));
      return store;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /**
   * The model's file, downloaded when it is not there. However many ask for a model, it is fetched once; a caller that
   * aborts leaves the others alone, and the last one to leave stops the download, whose bytes are kept.
   * @param slug the Cargo it is for, as `downloads()` names it.
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
      if (this.#isClosed) throw closedFailure();
      const model = this.#models.get(key);
      if (model === undefined) return this.#download(key, ref).join(slug, signal, onProgress, mayEvict);
      const lease = this.#lease(model);
      if (await this.#isIntact(model)) {
        this.#saveUse();
        if (!signal.aborted) return lease;
      } else if (this.#models.get(key) === model) await this.#delete(key);
      lease.release();
    }
  }

  /** Whether a model is here whole; false also while it is being fetched. */
  has(key: string): boolean {
    return this.#models.has(key);
  }

  /** @see DiskBudget.assertFits */
  assertFits(files: ReadonlyMap<string, number>, mayEvict = true): void {
    this.#budget.assertFits(files, mayEvict);
  }

  list(): StoredItem[] {
    return [...this.#models.values()].map(({ key, bytes, lastUsedMs, leases }) => {
      return { key, bytes, lastUsedMs, inUse: leases > 0 };
    });
  }

  /** What is left of downloads that were broken off, or has come of those under way. */
  parts(): StoredItem[] {
    return [...this.#parts.values()].map((part) => ({ ...part, inUse: this.#isDownloading(part.key) }));
  }

  /** One entry for each Cargo that waits for a download. */
  downloads(): DownloadStatus[] {
    return [...this.#downloads.values()].flatMap(({ slugs, key, fraction }) =>
      [...slugs].map((slug) => ({ slug, key, fraction })),
    );
  }

  /** @see DiskBudget.takenBytes */
  takenBytes(keys: ReadonlySet<string>): number {
    return this.#budget.takenBytes(keys);
  }

  usage(): DiskUsage {
    return this.#budget.usage();
  }

  /** Deletes a model, or the part of one. `in_use` when it is leased or being downloaded: then nothing is done. */
  async remove(key: string): Promise<RemoveOutcome> {
    const item = this.#items().find((candidate) => candidate.key === key);
    if (item?.inUse === true || this.#isDownloading(key)) return "in_use";
    if (item === undefined) return "absent";
    await this.#delete(key);
    await this.#index.write();
    return "removed";
  }

  /** Deletes every model and part that is not in use. */
  async prune(): Promise<{ removed: number; freedBytes: number }> {
    const items = this.#items().filter(({ key, inUse }) => !inUse && !this.#isDownloading(key));
    for (const { key } of items) await this.#delete(key);
    await this.#index.write();
    return { removed: items.length, freedBytes: items.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  /** Stops the downloads, keeping their parts, and waits until every file and socket is closed. Leases stay readable. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const download of this.#running.keys()) download.stop(closedFailure());
    await Promise.all(this.#running.values());
    try {
      await this.#index.write();
    } finally {
      await this.#lock.release();
    }
  }

  #download(key: string, ref: ModelRef): SharedDownload<ModelLease> {
    const current = this.#downloads.get(key);
    if (current !== undefined && !current.isStopping) return current;
    const source = parseModelSource(ref.url, this.#policy);
    const download = new SharedDownload<ModelLease>(key);
    this.#downloads.set(key, download);
    // One that was just stopped still has the part open; the new one follows it.
    const previous = current === undefined ? undefined : this.#running.get(current);
    const ended = this.#run(download, source, ref, previous).finally(() => {
      this.#running.delete(download);
      if (this.#downloads.get(key) === download) this.#downloads.delete(key);
    });
    this.#running.set(download, ended);
    return download;
  }

  /** Never rejects: its callers are told through `shared`. */
  async #run(
    shared: SharedDownload<ModelLease>,
    source: ModelSource,
    ref: ModelRef,
    previous: Promise<void> | undefined,
  ): Promise<void> {
    await previous;
    try {
      await this.#deletions.get(shared.key);
      const model = this.#models.get(shared.key) ?? (await this.#fetch(shared, source, ref));
      // Held until its callers have their own leases: it must not be evicted in between.
      const hold = this.#lease(model);
      await this.#noteModel(model.key);
      shared.succeed(() => this.#lease(model));
      hold.release();
    } catch (error) {
      shared.fail(error);
    }
  }

  async #fetch(shared: SharedDownload<ModelLease>, source: ModelSource, ref: ModelRef): Promise<HeldModel> {
    const { key } = shared;
    const stem = stemOf(key);
    const file = source.extension === "" ? stem : `${stem}.${source.extension}`;
    const download: Download = {
      key,
      source,
      expected: { sha256: ref.sha256, bytes: ref.sizeBytes },
      directory: this.#directory,
      stem,
      fileName: file,
      reserve: (bytes) => this.#budget.reserve(key, bytes, () => shared.mayEvict),
      onProgress: (progress) => shared.report(progress),
    };
    try {
      const bytes = await downloadModel(download, { policy: this.#policy, clock: this.#clock }, shared.signal);
      const model: HeldModel = { key, file, bytes, lastUsedMs: this.#nextUse(), leases: 0 };
      this.#parts.delete(key);
      this.#models.set(key, model);
      return model;
    } catch (error) {
      await this.#notePart(key);
      throw error;
    } finally {
      this.#budget.release(key);
    }
  }

  /** Without room for the index the model is used all the same; the facts beside it bring it back after a crash. */
  async #noteModel(key: string): Promise<void> {
    try {
      await this.#index.write();
    } catch {
      return;
    }
    await removePart(this.#stemPath(key));
  }

  async #notePart(key: string): Promise<void> {
    const found = await stat(partPath(this.#stemPath(key))).catch(() => null);
    if (found === null) this.#parts.delete(key);
    else this.#parts.set(key, { key, bytes: found.size, lastUsedMs: this.#nextUse() });
  }

  #lease(model: HeldModel): ModelLease {
    model.leases += 1;
    model.lastUsedMs = this.#nextUse();
    let isHeld = true;
    const release = (): void => {
      if (isHeld) model.leases -= 1;
      isHeld = false;
    };
    return { path: join(this.#directory, model.file), key: model.key, bytes: model.bytes, release };
  }

  /** Its hash was checked before it got its name and is trusted since; a changed length is noticed. */
  async #isIntact(model: HeldModel): Promise<boolean> {
    const found = await stat(join(this.#directory, model.file)).catch(() => null);
    return found?.size === model.bytes;
  }

  #items(): StoredItem[] {
    return [...this.list(), ...this.parts()];
  }

  #isDownloading(key: string): boolean {
    return this.#downloads.has(key);
  }

  /** Forgets at once, then deletes; a download of the same key waits for that. */
  #delete(key: string): Promise<void> {
    const model = this.#models.get(key);
    const hasPart = this.#parts.delete(key);
    this.#models.delete(key);
    const deletion = this.#deleteFiles(key, model, hasPart);
    this.#deletions.set(key, deletion);
    return deletion.finally(() => this.#deletions.delete(key));
  }

  async #deleteFiles(key: string, model: HeldModel | undefined, hasPart: boolean): Promise<void> {
    try {
      if (model !== undefined) await rm(join(this.#directory, model.file), { force: true });
    } catch (error) {
      throw diskFailure(error);
    }
    if (hasPart) await removePart(this.#stemPath(key));
  }

  /** Order of use, also within a millisecond and when the clock steps back. */
  #nextUse(): number {
    this.#lastUseMs = Math.max(this.#clock.now(), this.#lastUseMs + 1);
    return this.#lastUseMs;
  }

  /** Times of use alone are written now and then, and at the end: a job must not cost a write to disk. */
  #saveUse(): void {
    const nowMs = this.#clock.now();
    if (Math.abs(nowMs - this.#useSavedMs) < USE_SAVE_MS) return;
    this.#useSavedMs = nowMs;
    // A write that fails is made good by the next one.
    this.#index.write().catch(() => undefined);
  }

  #stemPath(key: string): string {
    return join(this.#directory, stemOf(key));
  }
}

export function closedFailure(): JobFailure {
  return new JobFailure("shutting_down", "The Island is shutting down", { retryable: true });
}
