import { describe, expect, it } from "vitest";
import { alertQueries, dashboardPanels, dashboardQueries, type Panel } from "./queries.ts";

const panels = dashboardPanels();
const shown = panels.filter(({ type }) => type !== "row");
/** Metrics that are equal at all coordinators or machines, so that a sum is meaningless. */
const NO_SUMS = /\bsum(?: by \((?!instance\))[^)]*\))? ?\((?:atoll_storage_read_only|nodejs_eventloop)/;

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

describe("deploy/grafana/atoll.json", () => {
  it("gives each panel a title, a unit, a legend for each query, and the chosen data source", () => {
    const bare = shown.filter(({ title, fieldConfig, targets = [], datasource }) => {
      const hasLegends = targets.length > 0 && targets.every(({ legendFormat = "" }) => legendFormat !== "");
      const hasUnit = (fieldConfig?.defaults.unit ?? "") !== "";
      return title === "" || !hasUnit || !hasLegends || datasource?.uid !== "${datasource}";
    });
    expect(bare).toEqual([]);
  });

  it("shows seconds and bytes with matching units", () => {
    const wrong = shown.filter(({ targets = [], fieldConfig }) => {
      const expr = targets.map((target) => target.expr).join(" ");
      const { unit } = fieldConfig?.defaults ?? {};
      if (/_seconds_bucket|lag_\w+_seconds/.test(expr)) return unit !== "s";
      return /_bytes\b/.test(expr) && unit !== "bytes";
    });
    expect(wrong.map(({ title }) => title)).toEqual([]);
  });

  it("has panels with unique ids that do not overlap", () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const pairs = panels.flatMap((panel, nth) => panels.slice(nth + 1).map((other) => [panel, other] as const));
    expect(pairs.filter(([panel, other]) => overlap(panel, other))).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it("queries only the selected coordinators, and does not sum shared metrics", () => {
    const exprs = shown.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const selectors = exprs.flatMap((expr) => expr.match(/\{[^}]*\}/g) ?? []);
    expect(selectors.filter((each) => !each.startsWith('{job=~"$job",instance=~"$instance"'))).toEqual([]);
    expect(dashboardQueries().filter(({ expr }) => NO_SUMS.test(expr))).toEqual([]);
  });
});

it("alerts aggregate the coordinators of one network only", () => {
  const mixed = alertQueries().filter(({ expr }) => /\b(?:sum|max) ?\(|\bby \((?!job\b)/.test(expr));
  expect(mixed.map(({ source }) => source)).toEqual([]);
});
