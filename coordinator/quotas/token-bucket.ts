import type { Clock } from "../../shared/clock.ts";

/** A rate: `perSecond` on average, and at most `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Limits a rate: holds up to `burst` tokens, of which `perSecond` are added each second. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: Rate;
  #level: number;
  #atMs: number;

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#level = rate.burst;
    this.#atMs = clock.monotonicMs();
  }

  /** Takes `count` tokens, even into debt. Returns the ms until the debt is paid; 0 without debt. */
  take(count: number): number {
    const nowMs = this.#clock.monotonicMs();
    const { perSecond, burst } = this.#rate;
    this.#level = Math.min(burst, this.#level + ((nowMs - this.#atMs) / 1_000) * perSecond) - count;
    this.#atMs = nowMs;
    return this.#level >= 0 ? 0 : Math.ceil((-this.#level / perSecond) * 1_000);
  }
}
