import { describe, expect, it } from "vitest";
import { bucketOf, mergeCounts, quantileOf, type Counts } from "../../../coordinator/operators/latency-histogram.ts";

const countsOf = (times: readonly number[]): Counts => mergeCounts(times.map((ms) => [[bucketOf(ms), 1] as const]));

describe("quantileOf()", () => {
  it("is at most 5 % off, over the counts of several coordinators", () => {
    const times = Array.from({ length: 1_000 }, (_, index) => 10 + index * 7);
    const counts = mergeCounts([countsOf(times.slice(0, 300)), countsOf(times.slice(300))]);
    for (const share of [0.01, 0.5, 0.99]) {
      const exact = times[Math.ceil(share * times.length) - 1] ?? 0;
      expect(Math.abs((quantileOf(counts, share) ?? 0) / exact - 1)).toBeLessThan(0.05);
    }
  });

  it("is null of nothing, and bounded for any time", () => {
    expect(quantileOf([], 0.5)).toBeNull();
    expect(bucketOf(-5)).toBe(0);
    expect(bucketOf(Infinity)).toBe(bucketOf(1e12));
  });
});
