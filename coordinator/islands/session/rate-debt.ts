import type { Rate } from "../../quotas/token-bucket.ts";

/*
 * A token bucket as one number: when it is full again, by a clock that never jumps. 0 is a full one. Source: the generic cell rate
 * algorithm, ITU-T I.371. For what exists 10,000 times, five times each.
 */

/** The bucket after `count` were taken, also when there were less. */
export function taken(rate: Rate, fullAtMs: number, nowMs: number, count: number): number {
  return Math.max(fullAtMs, nowMs) + (count * 1_000) / rate.perSecond;
}

/** Milliseconds until the debt is paid; 0 while no more than the burst is missing. */
export function debtMs(rate: Rate, fullAtMs: number, nowMs: number): number {
  const overMs = fullAtMs - nowMs - (rate.burst * 1_000) / rate.perSecond;
  // What sums of fractions are off by is no debt.
  return overMs > 0.001 ? Math.ceil(overMs) : 0;
}
