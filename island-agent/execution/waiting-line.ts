interface Waiter<T> {
  readonly who: T;
  readonly admit: () => void;
}

/** Callers that wait for their turn, first come first served. Whoever aborts leaves the line. */
export class WaitingLine<T> {
  readonly #waiters = new Set<Waiter<T>>();
  #moved = Promise.withResolvers<void>();

  get first(): T | undefined {
    const [first] = this.#waiters;
    return first?.who;
  }

  /** Resolves when it is `who`'s turn; rejects with `signal.reason` when aborted first. */
  async wait(who: T, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter<T> = { who, admit: resolve };
    const leave = (): void => {
      if (this.#take(waiter)) reject(signal.reason as Error);
    };
    this.#waiters.add(waiter);
    signal.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  /** Lets the first one go on; says whether there was one. */
  admitFirst(): boolean {
    const [first] = this.#waiters;
    if (first === undefined) return false;
    this.#take(first);
    first.admit();
    return true;
  }

  /** Resolves when the next one is admitted or leaves. */
  moved(): Promise<void> {
    return this.#moved.promise;
  }

  #take(waiter: Waiter<T>): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
    return true;
  }
}
