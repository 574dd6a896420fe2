interface Waiter<T> {
  readonly entry: T;
  readonly admit: () => void;
}

/** Queue of waiting callers in order of arrival. A caller whose signal aborts leaves the queue. */
export class WaitQueue<T> {
  readonly #waiters = new Set<Waiter<T>>();
  #changed = Promise.withResolvers<void>();

  /** The entry of the caller that is admitted next. */
  get first(): T | undefined {
    const [first] = this.#waiters;
    return first?.entry;
  }

  /** Resolves when the caller is admitted. Rejects with `signal.reason` if the signal aborts first. */
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

  /** Admits the first caller. Returns false if the queue is empty. */
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
