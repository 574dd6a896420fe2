import type { DownloadProgress } from "./transfer.ts";

/** One caller of a download. */
interface Waiter<T> {
  readonly slug: string;
  readonly mayEvict: boolean;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * One download with any number of callers. Each caller may leave by its own signal. The download stops when the last
 * caller has left. `T` is the result of a caller.
 */
export class SharedDownload<T> {
  readonly key: string;
  readonly #waiters = new Set<Waiter<T>>();
  readonly #controller = new AbortController();
  #progress: DownloadProgress | null = null;

  constructor(key: string) {
    this.key = key;
  }

  /** Aborts the transfer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the download has been stopped. Then no caller can join it. */
  get isStopping(): boolean {
    return this.signal.aborted;
  }

  get slugs(): ReadonlySet<string> {
    return new Set([...this.#waiters].map(({ slug }) => slug));
  }

  /** Whether any caller allows other items to be deleted for it. */
  get mayEvict(): boolean {
    return [...this.#waiters].some(({ mayEvict }) => mayEvict);
  }

  get progress(): DownloadProgress {
    return this.#progress ?? { receivedBytes: 0, totalBytes: null };
  }

  /** Waits for the end; rejects with `signal.reason` when the caller leaves. */
  async join(
    slug: string,
    signal: AbortSignal,
    onProgress: (progress: DownloadProgress) => void,
    mayEvict = true,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiter: Waiter<T> = { slug, mayEvict, onProgress, resolve, reject };
    const leave = (): void => {
      if (!this.#waiters.delete(waiter)) return;
      reject(signal.reason);
      if (this.#waiters.size === 0) this.#controller.abort(signal.reason);
    };
    this.#waiters.add(waiter);
    signal.addEventListener("abort", leave, { once: true });
    if (this.#progress !== null) onProgress(this.#progress);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  report(progress: DownloadProgress): void {
    this.#progress = progress;
    for (const waiter of this.#waiters) waiter.onProgress(progress);
  }

  /** Stops the download and rejects every caller with `reason`. */
  stop(reason: Error): void {
    this.#controller.abort(reason);
    this.fail(reason);
  }

  /** Resolves all remaining callers in one step, each with its own value. */
  succeed(makeValue: () => T): void {
    for (const { resolve } of this.#takeWaiters()) resolve(makeValue());
  }

  fail(error: unknown): void {
    for (const { reject } of this.#takeWaiters()) reject(error);
  }

  #takeWaiters(): Waiter<T>[] {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    return waiters;
  }
}
