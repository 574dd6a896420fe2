interface GrowingWaits {
  readonly firstMs: number;
  readonly maxMs: number;
}

interface BackoffPolicy extends GrowingWaits {
  /** Random number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
}

/** Returns the delay after the `nth` consecutive failure, at least 1. It doubles from `firstMs` to `maxMs`. */
export function growingMs(nth: number, { firstMs, maxMs }: GrowingWaits): number {
  return Math.min(maxMs, firstMs * 2 ** (nth - 1));
}

/**
 * Returns the delay before the next attempt. It doubles from `firstMs` to `maxMs`, reduced by a random part of up to a
 * half, so that simultaneous failures are not retried simultaneously.
 * @param failures consecutive failed attempts, at least 1
 */
export function backoffMs(failures: number, policy: BackoffPolicy): number {
  const stepMs = growingMs(failures, policy);
  return stepMs / 2 + (policy.random() * stepMs) / 2;
}

/** Counts consecutive failures for {@link backoffMs}. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  #failures = 0;

  constructor(policy: BackoffPolicy) {
    this.#policy = policy;
  }

  /** Counts a failure and returns the delay after it. `maxMs` limits this delay only. */
  nextMs(maxMs = this.#policy.maxMs): number {
    this.#failures += 1;
    return backoffMs(this.#failures, { ...this.#policy, maxMs: Math.min(maxMs, this.#policy.maxMs) });
  }

  /** Resets the count after a success. */
  reset(): void {
    this.#failures = 0;
  }
}
