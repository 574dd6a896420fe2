import { TimeoutError } from "./errors.ts";

/** Resolves after `ms`. @throws the signal's reason when it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Returns the result of `promise`. @throws {TimeoutError} if it takes longer than `ms`. */
export async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(`${what} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A signal that aborts with the caller's signal, or with a TimeoutError after a time. Call `release` at the end;
 * otherwise listeners accumulate on a long-lived signal of the caller.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Starts the timer. If `timeoutMs` is null, there is no time limit. `what` is the start of the error message, which "
   * within … ms" completes.
   */
  constructor(outer: AbortSignal | undefined, timeoutMs: number | null, what: string) {
    this.#outer = outer;
    if (outer?.aborted === true) this.#controller.abort(outer.reason);
    else outer?.addEventListener("abort", this.#onOuter, { once: true });
    if (timeoutMs === null) return;
    this.#timer = setTimeout(() => {
      this.#controller.abort(new TimeoutError(`${what} within ${timeoutMs} ms`));
    }, timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Removes the time limit. The caller's signal still aborts. */
  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  release(): void {
    this.stopTimer();
    this.#outer?.removeEventListener("abort", this.#onOuter);
  }

  readonly #onOuter = (): void => {
    this.#controller.abort(this.#outer?.reason);
  };
}
