/** Lets the downloads that jobs wait for go before those that nobody waits for. */
export class DownloadPriority {
  #jobs = 0;
  #quiet: PromiseWithResolvers<void> | null = null;
  #interrupt = new AbortController();

  /** Runs a download that a job waits for; those of `runWhenIdle` stop at once. */
  async runForJob<T>(download: () => Promise<T>): Promise<T> {
    this.#jobs += 1;
    this.#quiet ??= Promise.withResolvers();
    this.#interrupt.abort(new Interrupted());
    try {
      return await download();
    } finally {
      this.#jobs -= 1;
      if (this.#jobs === 0) {
        this.#interrupt = new AbortController();
        this.#quiet.resolve();
        this.#quiet = null;
      }
    }
  }

  /**
   * Runs a download while no job waits for one; begun again after each that came between (what was fetched is kept on disk).
   * @throws `signal.reason`, or what the download throws.
   */
  async runWhenIdle<T>(download: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      while (this.#quiet !== null) await this.#quiet.promise;
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
