/** Waits that grow. */
interface GrowingWaits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Waits between attempts. */
interface BackoffPolicy extends GrowingWaits {
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
}

/** The wait after the `nth` failure in a row, at least 1: it doubles from `firstMs` to `maxMs`. */
export function growingMs(nth: number, { firstMs, maxMs }: GrowingWaits): number {
  return Math.min(maxMs, firstMs * 2 ** (nth - 1));
}

/**
 * The wait before the next attempt. It doubles from `firstMs` to `maxMs`, less a random part of up to a half, so that what failed
 * together is not repeated together.
 * @param failures failed attempts in a row, at least 1.
 */
export function backoffMs(failures: number, policy: BackoffPolicy): number {
  const stepMs = growingMs(failures, policy);
  return stepMs / 2 + (policy.random() * stepMs) / 2;
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
