import * as library from "prom-client";
import { describe, expect, it } from "vitest";
import { Distribution } from "../../shared/distribution.ts";
import { counterOf, histogramOf, metricOf } from "../../shared/prometheus.ts";
import { FirstNames, Tally } from "../../shared/tally.ts";

const INFO = { name: "test_total", help: "Things", labelNames: ["kind"] };

async function written(metric: library.Metric): Promise<string[]> {
  const registry = new library.Registry();
  registry.registerMetric(metric);
  return (await registry.metrics()).trim().split("\n");
}

describe("a Tally", () => {
  it("is a counter with a row for each combination of labels", async () => {
    const tally = new Tally(INFO);
    tally.add(["a"]);
    tally.add(["b"], 2);
    tally.add(["a"]);
    expect(await written(counterOf(library, tally))).toEqual([
      "# HELP test_total Things",
      "# TYPE test_total counter",
      'test_total{kind="a"} 2',
      'test_total{kind="b"} 2',
    ]);
  });

  it("without labels is 0 from the start", async () => {
    expect(await written(counterOf(library, new Tally({ ...INFO, labelNames: [] })))).toContain("test_total 0");
  });

  it("has no more rows than it may: one row takes the rest", () => {
    const tally = new Tally(INFO, 3);
    for (let nth = 0; nth < 100; nth += 1) tally.add([`kind ${nth}`]);
    const counts = [...tally.series()].map(({ labels, count }) => [labels[0], count]);
    expect(counts).toEqual([
      ["kind 0", 1],
      ["kind 1", 1],
      ["kind 2", 1],
      ["other", 97],
    ]);
  });
});

describe("a Distribution", () => {
  it("is a histogram with cumulative buckets, whose bounds belong to them", async () => {
    const distribution = new Distribution({ ...INFO, name: "test_seconds" }, [0.1, 1]);
    for (const value of [0.1, 0.5, 1, 7, -3]) distribution.observe(["a"], value);
    expect(await written(histogramOf(distribution))).toEqual([
      "# HELP test_seconds Things",
      "# TYPE test_seconds histogram",
      'test_seconds_bucket{kind="a",le="0.1"} 2',
      'test_seconds_bucket{kind="a",le="1"} 4',
      'test_seconds_bucket{kind="a",le="+Inf"} 5',
      'test_seconds_sum{kind="a"} 8.6',
      'test_seconds_count{kind="a"} 5',
    ]);
  });
});

describe("a Reading", () => {
  it("is what is read at each scrape: rows that are gone are gone", async () => {
    let rows: [string[], number][] = [[["a"], 1]];
    const metric = metricOf(library, { ...INFO, type: "gauge", read: () => rows });
    expect(await written(metric)).toContain('test_total{kind="a"} 1');
    rows = [[["b"], 2]];
    expect((await written(metric)).slice(2)).toEqual(['test_total{kind="b"} 2']);
  });
});

it("FirstNames keeps the first names, and calls all others other", () => {
  const names = new FirstNames(2);
  expect(["a", "b", "c", "a", "d", "b"].map((name) => names.of(name))).toEqual(["a", "b", "other", "a", "other", "b"]);
});
