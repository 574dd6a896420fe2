/** Waits between attempts. */
export interface BackoffPolicy {
  readonly firstMs: number;
  readonly maxMs: number;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
}

/**
 * The wait before the next attempt. It doubles from `firstMs` to `maxMs`, less a random part of up to a half, so that what failed
 * together is not repeated together.
 * @param failures failed attempts in a row, at least 1.
 */
export function backoffMs(failures: number, { firstMs, maxMs, random }: BackoffPolicy): number {
  const stepMs = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return stepMs / 2 + (random() * stepMs) / 2;
}

/** Counts the failures in a row for {@link backoffMs}. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  #failures = 0;

  constructor(policy: BackoffPolicy) {
    this.#policy = policy;
  }

  /** The wait after one more failure, at most `maxMs` where the present one must not be long. */
  nextMs(maxMs = this.#policy.maxMs): number {
    this.#failures += 1;
    return backoffMs(this.#failures, { ...this.#policy, maxMs: Math.min(maxMs, this.#policy.maxMs) });
  }

  /** After a success. */
  reset(): void {
    this.#failures = 0;
  }
}
