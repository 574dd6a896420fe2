interface Waiter<T> {
  readonly entry: T;
  readonly admit: () => void;
}

/** Callers that wait for their turn, first come, first served. A caller whose signal aborts leaves the queue. */
export class WaitQueue<T> {
  readonly #waiters = new Set<Waiter<T>>();
  #changed = Promise.withResolvers<void>();

  /** The entry of the next caller to be admitted. */
  get first(): T | undefined {
    const [first] = this.#waiters;
    return first?.entry;
  }

  /** Resolves when it is the caller's turn; rejects with `signal.reason` when aborted first. */
  async wait(entry: T, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter<T> = { entry, admit: resolve };
    const leave = (): void => {
      if (this.#remove(waiter)) reject(signal.reason as Error);
    };
    this.#waiters.add(waiter);
    signal.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Lets the first caller go on. Returns false when nobody waits. */
  admitFirst(): boolean {
    const [first] = this.#waiters;
    if (first === undefined) return false;
    this.#remove(first);
    first.admit();
    return true;
  }

  /** Resolves when the next caller is admitted or leaves. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  #remove(waiter: Waiter<T>): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    return true;
  }
}
