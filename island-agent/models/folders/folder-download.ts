import { modelKey } from "../../../shared/cargo.ts";
import { JobFailure } from "../../../shared/errors.ts";
import type { FolderFile } from "./fetch-folder-list.ts";
import type { ModelLease } from "../store/model-files.ts";
import type { ModelStore } from "../store/model-store.ts";
import { DiskFullError } from "../../disk/disk-full-error.ts";
import type { DownloadProgress } from "../download/transfer.ts";

/** Maximum concurrent file downloads of one folder. */
const MAX_CONCURRENT_FILES = 4;

/** Download of all files of a folder, for one caller. */
export class FolderDownload {
  readonly slug: string;
  readonly key: string;
  readonly #models: ModelStore;
  readonly #onProgress: (progress: DownloadProgress) => void;
  readonly #mayEvict: boolean;
  readonly #bytesOf = new Map<string, number>();
  #receivedBytes = 0;
  #totalBytes: number | null = null;

  /** @param mayEvict whether other models may be deleted for it. */
  constructor(
    slug: string,
    key: string,
    models: ModelStore,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict: boolean,
  ) {
    this.slug = slug;
    this.key = key;
    this.#models = models;
    this.#onProgress = onProgress;
    this.#mayEvict = mayEvict;
  }

  get progress(): DownloadProgress {
    return { receivedBytes: this.#receivedBytes, totalBytes: this.#totalBytes };
  }

  /**
   * Leases all files, by key, or none.
   * @throws {JobFailure} naming the file, or `signal.reason`.
   */
  async run(files: readonly FolderFile[], signal: AbortSignal): Promise<Map<string, ModelLease>> {
    const byKey = new Map(files.map((file) => [modelKey(file.ref), file]));
    this.#totalBytes = [...byKey.values()].reduce((sum, { ref }) => sum + ref.sizeBytes, 0);
    // Lease the files on disk before the others can evict them. Then fetch the largest files, which are most likely not
    // to fit.
    const isMissing = (key: string): number => (this.#models.has(key) ? 0 : 1);
    const order = [...byKey].sort(([a, one], [b, other]) => {
      return isMissing(a) - isMissing(b) || other.ref.sizeBytes - one.ref.sizeBytes;
    });
    const leases = new Map<string, ModelLease>();
    const failed = new AbortController();
    const ending = AbortSignal.any([signal, failed.signal]);
    const waiting = order.values();
    const work = async (): Promise<void> => {
      for (const [key, file] of waiting) leases.set(key, await this.#acquire(key, file, ending));
    };
    const workers = Array.from({ length: MAX_CONCURRENT_FILES }, () =>
      work().catch((error: unknown) => failed.abort(error)),
    );
    await Promise.all(workers);
    if (!failed.signal.aborted) return leases;
    for (const lease of leases.values()) lease.release();
    throw failed.signal.reason;
  }

  async #acquire(key: string, { path, ref }: FolderFile, signal: AbortSignal): Promise<ModelLease> {
    try {
      const report = ({ receivedBytes, isFromDisk = false }: DownloadProgress): void =>
        this.#report(key, receivedBytes, isFromDisk);
      const lease = await this.#models.acquire(this.slug, ref, signal, report, this.#mayEvict);
      this.#report(key, ref.sizeBytes, this.#bytesOf.get(key) !== ref.sizeBytes);
      return lease;
    } catch (error) {
      if (signal.aborted || !(error instanceof JobFailure)) throw error;
      // With this cause, the downloads of the other files delete their parts.
      if (error instanceof DiskFullError) throw new DiskFullError(`${path}: ${error.message}`, error.cause);
      const { code, message, retryable } = error;
      throw new JobFailure(code, `${path}: ${message}`, { retryable, cause: error });
    }
  }

  #report(key: string, bytes: number, isFromDisk: boolean): void {
    this.#receivedBytes += bytes - (this.#bytesOf.get(key) ?? 0);
    this.#bytesOf.set(key, bytes);
    this.#onProgress({ ...this.progress, isFromDisk });
  }
}
