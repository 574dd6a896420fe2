import { describe, expect, it } from "vitest";
import { counter, FirstNames, gauge, histogram, MAX_ROWS, scraperOf, type Metric } from "../../shared/metrics.ts";

/** Returns the lines without the metrics of the process. */
async function written(metric: Metric): Promise<string[]> {
  const text = await scraperOf([metric], () => import("prom-client"))();
  return text.split("\n").filter((line) => line.includes("test_"));
}

describe("counter()", () => {
  it("has a row for each combination of labels", async () => {
    const things = counter("test_total", "Things", ["kind"]);
    things.add(["a"]);
    things.add(["b"], 2);
    things.add(["a"]);
    expect(await written(things)).toEqual([
      "# HELP test_total Things",
      "# TYPE test_total counter",
      'test_total{kind="a"} 2',
      'test_total{kind="b"} 2',
    ]);
  });

  it("starts at 0 without labels, and for known values of its label", async () => {
    expect(await written(counter("test_total", "Things"))).toContain("test_total 0");
    expect(await written(counter("test_total", "Things", ["kind"], ["a"]))).toContain('test_total{kind="a"} 0');
  });

  it("has a limited number of rows, and counts the rest in one row", async () => {
    const things = counter("test_total", "Things", ["kind"]);
    for (let nth = 0; nth < MAX_ROWS + 97; nth += 1) things.add([`kind ${nth}`]);
    const [, , ...rows] = await written(things);
    expect(rows).toHaveLength(MAX_ROWS + 1);
    expect([rows[0], rows.at(-1)]).toEqual(['test_total{kind="kind 0"} 1', 'test_total{kind="other"} 97']);
  });
});

describe("histogram()", () => {
  it("counts values in cumulative buckets with inclusive bounds", async () => {
    const times = histogram("test_seconds", "Things", [0.1, 1], ["kind"]);
    for (const value of [0.1, 0.5, 1, 7, -3]) times.observe(["a"], value);
    expect(await written(times)).toEqual([
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

describe("gauge()", () => {
  it("reads its rows at each scrape, without rows that no longer exist", async () => {
    let rows: [string, number][] = [["a", 1]];
    const things = gauge("test_things", "Things", ["kind"], () => rows);
    expect(await written(things)).toContain('test_things{kind="a"} 1');
    rows = [["b", 2]];
    expect((await written(things)).slice(2)).toEqual(['test_things{kind="b"} 2']);
  });
});

it("FirstNames keeps the first names, and maps all others to other", () => {
  const names = new FirstNames(2);
  expect(["a", "b", "c", "a", "d", "b"].map((name) => names.of(name))).toEqual(["a", "b", "other", "a", "other", "b"]);
});
