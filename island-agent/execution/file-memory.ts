import { MIB } from "../../shared/format-bytes.ts";
import { Semaphore } from "../../shared/async/semaphore.ts";
import type { FetchedFiles } from "./job-files.ts";

/** Files of a job, together. Smaller ones do not wait. */
const LARGE_BYTES = 4 * MIB;
/** Jobs that have large files in memory at once: as base64, in JSON and on the way to a program each may take over 100 MB. */
const LARGE_AT_ONCE = 2;

/** Keeps the files of jobs from filling the agent's memory: they are read from disk when few other jobs have theirs in memory. */
export class FileMemory {
  readonly #places = new Semaphore<FetchedFiles>(LARGE_AT_ONCE);
  readonly #waiting = new Set<() => void>();

  /**
   * Runs `work` once there is memory for the files.
   * @param onWorking called while it waits, when other jobs work.
   * @throws `signal.reason`
   */
  async during<T>(
    files: FetchedFiles | null,
    { signal, onWorking }: { readonly signal: AbortSignal; readonly onWorking: () => void },
    work: () => Promise<T>,
  ): Promise<T> {
    if (files === null || files.bytes < LARGE_BYTES) return work();
    this.#waiting.add(onWorking);
    try {
      await this.#places.acquire(files, signal);
    } finally {
      this.#waiting.delete(onWorking);
    }
    try {
      return await work();
    } finally {
      this.#places.release();
    }
  }

  /** Some job works, so those that wait for it are not forgotten. */
  noteWork(): void {
    for (const onWorking of this.#waiting) onWorking();
  }
}
