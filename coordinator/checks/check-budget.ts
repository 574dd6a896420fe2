import { RateLimitedError } from "../../shared/errors.ts";
import type { Clock } from "../../shared/clock.ts";

/** Time in the thread that an account may use at once, and the share of time that it may use permanently. */
const BURST_MS = 5_000;
const SHARE = 0.2;

interface Use {
  readonly ms: number;
  readonly atMs: number;
}

/** Measures the time that each account's checks used, less the share of the time that has passed since. */
export function checkBudgets(clock: Pick<Clock, "monotonicMs">) {
  const uses = new Map<string, Use>();

  function usedMs(accountId: string): number {
    const { ms, atMs } = uses.get(accountId) ?? { ms: 0, atMs: 0 };
    return Math.max(0, ms - (clock.monotonicMs() - atMs) * SHARE);
  }

  return {
    usedMs,
    add(accountId: string, ms: number): void {
      uses.set(accountId, { ms: usedMs(accountId) + ms, atMs: clock.monotonicMs() });
      // Few accounts have expensive checks, so this is seldom a long list.
      for (const known of uses.keys()) if (usedMs(known) === 0) uses.delete(known);
    },
    /** @throws {RateLimitedError} if the account has used its budget */
    assertLeft(accountId: string): void {
      const overMs = usedMs(accountId) - BURST_MS;
      if (overMs > 0) throw new RateLimitedError("check_time", Math.ceil(overMs / SHARE / 1_000));
    },
  };
}
