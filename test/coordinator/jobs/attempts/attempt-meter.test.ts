import { describe, expect, it } from "vitest";
import { AttemptMeter } from "../../../../coordinator/jobs/attempts/attempt-meter.ts";

/** The speed of a run that was assigned at 0 and delivered `tokens` at `atMs`, each. */
function speedOf(...frames: readonly (readonly [atMs: number, tokens: number])[]): number | null {
  const meter = new AttemptMeter(0);
  for (const [atMs, tokens] of frames) meter.deliver(atMs, tokens);
  return meter.tokensPerSecond;
}

describe("the speed of an attempt", () => {
  it("is what came after the first frame, by the time that it took", () => {
    expect(speedOf([500, 1], [600, 1], [1_500, 19])).toBe(20);
  });

  it("is not known of one frame, and of none", () => {
    expect([speedOf(), speedOf([500, 100]), speedOf([500, 100], [900, 0])]).toEqual([null, null, null]);
  });

  it("is not raised by an Island that holds its text back and sends it at once", () => {
    // 100 tokens in 10 s; as it streamed, 99,000 a second.
    expect(speedOf([10_000, 1], [10_001, 99])).toBeCloseTo(80, 1);
    expect(speedOf([0, 1], [0, 4_095])).toBe(4_095_000);
  });
});

describe("an Island's timings", () => {
  it("are no longer than the time that passed", () => {
    const meter = new AttemptMeter(100);
    expect(meter.bounded({ loadMs: 1e9, firstOutputMs: 1e9, runMs: 50 }, 200)).toEqual({
      loadMs: 100,
      firstOutputMs: 100,
      runMs: 50,
    });
  });
});
