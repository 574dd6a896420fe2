/** A pending call made with {@link Clock.schedule}. */
export interface Timer {
  /** Prevents the call; does nothing once it has run. */
  cancel(): void;
}

/** The only source of time. Tests drive a manual one; nothing else may read the system's. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds on a scale that never jumps, with fractions; only differences mean anything. */
  monotonicMs(): number;
  /** Runs `task` once after `delayMs` (0 or more). */
  schedule(delayMs: number, task: () => void): Timer;
  /** Resolves after `ms`; rejects with `signal.reason` when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay that the platform's timers take; longer ones would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule(delayMs, task) {
    const handle = setTimeout(task, Math.min(Math.max(0, delayMs), MAX_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};

/** `sleep` in terms of `schedule`, shared by every clock. */
export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.schedule(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
