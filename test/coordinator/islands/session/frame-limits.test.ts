import { describe, expect, it } from "vitest";
import { debtMs, taken } from "../../../../coordinator/islands/session/frame-limits.ts";
import { TokenBucket } from "../../../../coordinator/quotas/token-bucket.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("a rate stored as one number", () => {
  it.each([
    { perSecond: 20, burst: 200 },
    { perSecond: 5_000, burst: 20_000 },
    { perSecond: 32 * 2 ** 20, burst: 64 * 2 ** 20 },
  ])("has the debts of a token bucket (%o)", (rate) => {
    const clock = new ManualClock();
    const bucket = new TokenBucket(clock, rate);
    let fullAtMs = 0;
    for (let round = 0; round < 1_000; round += 1) {
      const count = Math.max(1, Math.floor((rate.burst / 150) * ((round % 7) / 3)));
      fullAtMs = taken(rate, fullAtMs, clock.monotonicMs(), count);
      expect(Math.abs(debtMs(rate, fullAtMs, clock.monotonicMs()) - bucket.take(count))).toBeLessThanOrEqual(1);
      clock.advance((round * 13) % 120);
    }
  });

  it("allows exactly the burst at once", () => {
    const rate = { perSecond: 20, burst: 200 };
    let fullAtMs = 0;
    for (let count = 1; count <= 200; count += 1) {
      fullAtMs = taken(rate, fullAtMs, 12_345.678, 1);
      expect(debtMs(rate, fullAtMs, 12_345.678)).toBe(0);
    }
    expect(debtMs(rate, taken(rate, fullAtMs, 12_345.678, 1), 12_345.678)).toBe(50);
  });
});
