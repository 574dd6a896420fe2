import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";

const WINDOW_MS = 60_000;
const MAX_ATTEMPTS = 5;
/** Most addresses remembered; the one that has been quiet longest gives way. */
const MAX_ADDRESSES = 10_000;

/** Sliding window over sign-in attempts by address. Attempts that are refused do not count. */
export class AttemptLimit {
  readonly #clock: Clock;
  /** Times of the attempts by address, oldest first; addresses in the order of their last attempt. */
  readonly #attempts = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts an attempt. @throws {RateLimitedError} after 5 within a minute. */
  count(address: string): void {
    const nowMs = this.#clock.monotonicMs();
    const recent = (this.#attempts.get(address) ?? []).filter((atMs) => atMs > nowMs - WINDOW_MS);
    const [oldestMs] = recent;
    if (oldestMs !== undefined && recent.length >= MAX_ATTEMPTS) {
      throw new RateLimitedError("login_attempts", Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1_000)));
    }
    this.#attempts.delete(address);
    this.#attempts.set(address, [...recent, nowMs]);
    if (this.#attempts.size <= MAX_ADDRESSES) return;
    const [quietest] = this.#attempts.keys();
    if (quietest !== undefined) this.#attempts.delete(quietest);
  }
}
