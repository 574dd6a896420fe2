import { describe, expect, it } from "vitest";
import { summarizeFigure } from "../../bench/harness/bench.ts";
import { ofEachRun, valuesOf } from "../../bench/harness/alternate.ts";
import { drawLinePlot } from "../../bench/harness/line-plot.ts";
import { pairedRatios, summarize } from "../../bench/harness/statistics.ts";

describe("summarize()", () => {
  it("returns median, minimum and maximum of unsorted runs", () => {
    expect(summarize([5, 1, 9, 3])).toEqual({ median: 4, min: 1, max: 9, runs: 4 });
  });
  it("rejects a measurement without runs", () => {
    expect(() => summarize([])).toThrow(RangeError);
  });
});

describe("pairedRatios()", () => {
  it("divides values of the same run, and omits runs with a baseline of 0", () => {
    expect(pairedRatios([2, 9, 8], [1, 0, 4])).toEqual([2, 2]);
  });
});

describe("valuesOf()", () => {
  it("rejects a metric without measurements", () => {
    expect(() => valuesOf({ atoll: { ms: [1] } }, "atoll", "MB")).toThrow("No run of atoll measured MB");
    expect(() => valuesOf({ atoll: { ms: [Number.NaN] } }, "atoll", "ms")).toThrow("ms of atoll is NaN");
  });
});

describe("ofEachRun()", () => {
  it("combines values of the same run, with NaN for missing ones", () => {
    expect(ofEachRun((a, b, c) => a - b + c, [5, 9], [1, 2], [0.5, 0.25])).toEqual([4.5, 7.25]);
    expect(ofEachRun((a, b) => a + b, [1, 2], [1])).toEqual([2, Number.NaN]);
  });
});

describe("summarizeFigure()", () => {
  const budget = { text: "≤ 1.5 times", isMet: ({ ratio }: { ratio: number }) => ratio <= 1.5 };
  const of = (values: number[]) =>
    summarizeFigure({ what: "x", unit: "ms", values, baseline: { name: "bare", values: [1, 2, 4] }, budget });
  it("judges the median of the ratios, not the ratio of the medians", () => {
    expect(of([1, 9, 4])).toMatchObject({ figure: { median: 4 }, ratio: 1, budget: { isMet: true } });
    expect(of([2, 2, 8])).toMatchObject({ ratio: 2, budget: { isMet: false } });
  });
});

describe("drawLinePlot()", () => {
  it("draws a point for each value of x and escapes names", () => {
    const svg = drawLinePlot({
      name: "plot",
      title: "a < b",
      x: { label: "streams", values: [1, 10, 100] },
      panels: [{ label: "ms", lines: [{ name: "bare", points: [[1], [2, 3], [4]] }] }],
    });
    expect(svg.match(/<circle /g)).toHaveLength(3);
    expect(svg).toContain("a &lt; b");
    expect(svg).not.toContain("NaN");
  });
});
