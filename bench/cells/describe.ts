import { formatNumber } from "../harness/format-number.ts";
import type { LinePlot } from "../harness/line-plot.ts";
import type { CellFigures } from "./figures.ts";

export interface StoredScenario {
  readonly title: string;
  readonly islands: number;
  readonly slots: number;
  readonly jobs: number;
  readonly runs: readonly CellFigures[];
}

type Column = readonly [head: string, of: (run: CellFigures) => number];

const WAITING: readonly Column[] = [
  ["Wait, mean, ms", ({ waitMs }) => waitMs.mean],
  ["Wait, p99, ms", ({ waitMs }) => waitMs.p99],
  ["Wait of small accounts, p99, ms", ({ smallWaitMs }) => smallWaitMs.p99],
  ["Wait while one Island had a free slot, p99, ms", ({ besideMs }) => besideMs.p99],
  ["The same, longest, ms", ({ besideMs }) => besideMs.max],
];
const SUMS: readonly Column[] = [
  ["Jobs that waited so for more than a second", ({ besideOverSecond }) => besideOverSecond],
  ["Wait while any slot that fits was free, in all, p99, ms", ({ idleWaitMs }) => idleWaitMs.p99],
  ["The same, longest, ms", ({ idleWaitMs }) => idleWaitMs.max],
];
const ORDER: readonly Column[] = [
  ["Stolen, % of jobs", ({ stolen }) => stolen * 100],
  ["Moved again, % of jobs", ({ movedAgain }) => movedAgain * 100],
  ["Slot time of other accounts, %", ({ misplaced }) => misplaced * 100],
  ["Least served, % of its share", ({ leastServed }) => leastServed * 100],
  ["Started before an earlier due job, %", ({ outOfOrder }) => outOfOrder * 100],
];
const TRAFFIC: readonly Column[] = [
  ["Messages published, /s, all", ({ publishedPerS }) => publishedPerS],
  ["Requests, /s, all", ({ requestsPerS }) => requestsPerS],
  ["Messages received, /s, each", ({ receivedPerS }) => receivedPerS],
  ["Received, kB/s, each", ({ kbPerS }) => kbPerS],
];

/** Returns a Markdown table with a column per number of coordinators. */
export function describeScenario({ title, islands, slots, jobs, runs }: StoredScenario): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rows = [...WAITING, ...SUMS, ...ORDER, ...TRAFFIC];
  const size = `${inFull(islands)} Islands with ${inFull(slots)} slots, ${inFull(jobs)} jobs`;
  return [
    `## ${title}`,
    `${size}.\n`,
    row(["Coordinators", ...runs.map(({ coordinators }) => String(coordinators))]),
    `|---|${runs.map(() => "---:|").join("")}`,
    ...rows.map(([head, of]) => row([head, ...runs.map((run) => formatNumber(of(run)))])),
  ].join("\n");
}

/** Returns the page with all tables. */
export function describeAll(scenarios: Readonly<Record<string, StoredScenario>>): string {
  const intro = "Written by `npm run bench:cells`. [scale.md](../internals/scale.md) says what the rows mean.";
  return [`# Figures of simulated coordinators\n\n${intro}`, ...Object.values(scenarios).map(describeScenario)]
    .join("\n\n")
    .concat("\n");
}

const inFull = (count: number): string => count.toLocaleString("en-US");

/** Returns a plot per subject, with a line per scenario. */
export function plotsOf(scenarios: Readonly<Record<string, StoredScenario>>): LinePlot[] {
  const all = Object.entries(scenarios);
  const sizesOf = ({ runs }: StoredScenario): number[] => runs.map(({ coordinators }) => coordinators);
  const sizes = all
    .map(([, each]) => sizesOf(each))
    .reduce((most, each) => (each.length > most.length ? each : most), []);
  // A line may end before the others.
  const comparable = all.filter(([, each]) => sizesOf(each).every((size, index) => size === sizes[index]));
  const plot = (name: string, title: string, columns: readonly Column[]): LinePlot => ({
    name,
    title,
    x: { label: "coordinators", values: sizes },
    panels: columns.map(([label, of]) => ({
      label,
      lines: comparable.map(([name, { runs }]) => ({ name, points: runs.map((run) => [of(run)]) })),
    })),
  });
  return [
    plot("waiting", "How long jobs wait", WAITING.slice(1)),
    plot(
      "order",
      "How far from one scheduler",
      ORDER.filter((_, index) => index !== 1),
    ),
    plot("traffic", "What the coordinators say to each other", TRAFFIC),
  ];
}
