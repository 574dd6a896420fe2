/** Gives downloads that jobs wait for priority over background downloads. */
export class DownloadPriority {
  #jobs = 0;
  #idle: PromiseWithResolvers<void> | null = null;
  #interrupt = new AbortController();

  /** Runs a download that a job waits for. Background downloads stop immediately. */
  async runForJob<T>(download: () => Promise<T>): Promise<T> {
    this.#jobs += 1;
    this.#idle ??= Promise.withResolvers();
    this.#interrupt.abort(new Interrupted());
    try {
      return await download();
    } finally {
      this.#jobs -= 1;
      if (this.#jobs === 0) {
        this.#interrupt = new AbortController();
        this.#idle.resolve();
        this.#idle = null;
      }
    }
  }

  /**
   * Runs a background download while no job waits for its own download. It restarts after each interruption; the store
   * keeps the downloaded bytes.
   * @throws `signal.reason`, or errors of the download.
   */
  async runWhenIdle<T>(download: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      while (this.#idle !== null) await this.#idle.promise;
      signal.throwIfAborted();
      try {
        return await download(AbortSignal.any([signal, this.#interrupt.signal]));
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
      }
    }
  }
}

class Interrupted extends Error {
  override readonly name = "Interrupted";
}
