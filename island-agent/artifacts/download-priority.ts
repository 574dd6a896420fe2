/** Gives downloads that jobs wait for priority over background downloads. */
export class DownloadPriority {
  #jobs = 0;
  #idle: PromiseWithResolvers<void> | null = null;
  #interrupt = new AbortController();

  /** Runs a download that a job waits for. Background downloads stop at once. */
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
   * Runs a background download while no job waits for a download of its own. It is started again after each interruption; the
   * store keeps what was downloaded.
   * @throws `signal.reason`, or what the download throws.
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
