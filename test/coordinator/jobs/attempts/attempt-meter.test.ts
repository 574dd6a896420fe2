import { describe, expect, it } from "vitest";
import { AttemptMeter } from "../../../../coordinator/jobs/attempts/attempt-meter.ts";

/** Returns the speed of a run that was assigned at 0 and delivered `tokens` at each time of `atMs`. */
function speedOf(...frames: readonly (readonly [atMs: number, tokens: number])[]): number | null {
  const meter = new AttemptMeter(0);
  for (const [atMs, tokens] of frames) meter.deliver(atMs, tokens);
  return meter.tokensPerSecond;
}

describe("the speed of an attempt", () => {
  it("counts the tokens after the first frame, by their time", () => {
    expect(speedOf([500, 1], [600, 1], [1_500, 19])).toBe(20);
  });

  it("is null after one frame or none", () => {
    expect([speedOf(), speedOf([500, 100]), speedOf([500, 100], [900, 0])]).toEqual([null, null, null]);
  });

  it("is not raised by an Island that withholds its text and sends it at once", () => {
    // 100 tokens are delivered in 10 s. Between the two frames, the rate is 99,000 tokens per second.
    expect(speedOf([10_000, 1], [10_001, 99])).toBeCloseTo(80, 1);
    expect(speedOf([0, 1], [0, 4_095])).toBe(4_095_000);
  });
});

describe("the timings of an Island", () => {
  it("are limited to the elapsed time", () => {
    const meter = new AttemptMeter(100);
    expect(meter.bounded({ loadMs: 1e9, firstOutputMs: 1e9, runMs: 50 }, 200)).toEqual({
      loadMs: 100,
      firstOutputMs: 100,
      runMs: 50,
    });
  });

  it("keep the times for prompt and output only if they are reported", () => {
    const meter = new AttemptMeter(100);
    const timings = { loadMs: 0, firstOutputMs: null, runMs: 50, promptMs: 1e9, outputMs: 5 };
    expect(meter.bounded(timings, 200)).toEqual({ ...timings, promptMs: 100 });
  });
});
