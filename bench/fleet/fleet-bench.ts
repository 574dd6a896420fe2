import { join } from "node:path";
import type { Bench, BenchResult, Figure } from "../harness/bench.ts";
import type { LinePlot } from "../harness/line-plot.ts";
import { Worker } from "../harness/worker.ts";
import type { DecisionApi } from "./decision.ts";
import { FLEETS, type Fleet } from "./fleets.ts";
import { measure, type Measures } from "./measures.ts";
import { leastBusyFirst, oldRank, oracle, prefixAware, twoChoices, type MakePolicy } from "./policies.ts";
import { reachedCapacity } from "./reached-capacity.ts";
import { runPolicy, runScheduler } from "./run-fleet.ts";

const POLICIES: Readonly<Record<string, MakePolicy>> = {
  "Old rank": oldRank,
  "Least busy": leastBusyFirst,
  "Two choices": twoChoices,
  "Prefix-aware": prefixAware,
};
const MAX_DECISION_US = 30;
const DECISION_RUNS = 5;
/** Limits: mean time and prompt tokens read, divided by the oracle's, and difference of equal Islands' work. */
const MAX_RATIO = 1.1;
const MAX_RATIO_FULL = 1.3;
const MAX_READ_RATIO = 1.15;
const MAX_WORK_DIFFERENCE = 0.15;

interface Cell {
  readonly fleet: Fleet;
  readonly load: number;
  readonly oracle: Measures;
  readonly atoll: Measures;
  /** Mean time of a chat by policy. */
  readonly policies: readonly (readonly [name: string, meanMs: number])[];
}

/** The real scheduler with modelled Islands in virtual time, compared with oracles and other policies on the same chats. */
export function makeFleetBench(fleets: readonly Fleet[], loads: readonly number[], seed: number): Bench {
  return {
    name: "fleet",
    title: "Placement",
    command: "npm run bench:fleet",
    async run({ isQuick, log }): Promise<BenchResult> {
      const cells: Cell[] = [];
      for (const fleet of fleets) {
        const capacity = await reachedCapacity(fleet, seed);
        for (const load of loads) {
          const cell = await measureCell(isQuick ? { ...fleet, chats: 300 } : fleet, load, capacity, seed);
          log(rowOf(cell));
          cells.push(cell);
        }
      }
      return {
        figures: [...goalFigures(cells), await decisionFigure(isQuick)],
        plots: [plotOf(cells)],
        notes: notesOf(cells),
      };
    },
  };
}

export function fleetsNamed(names: readonly string[] | undefined): readonly Fleet[] {
  const unknown = names?.find((name) => !FLEETS.some((fleet) => fleet.name === name));
  if (unknown !== undefined) {
    throw new Error(`Unknown --fleets ${unknown}: must be some of ${FLEETS.map(({ name }) => name).join(", ")}`);
  }
  return FLEETS.filter(({ name }) => names?.includes(name) ?? true);
}

async function measureCell(fleet: Fleet, load: number, capacity: number, seed: number): Promise<Cell> {
  const rate = load * capacity;
  const oracles: Measures[] = [];
  for (const social of [false, true]) {
    for (const hold of [false, true]) {
      for (const loads of fleet.slugs.length > 1 ? [1, 2, 4] : [1]) {
        oracles.push(measure(fleet, await runPolicy(fleet, rate, seed, oracle(social, hold, loads))));
      }
    }
  }
  const policies: (readonly [string, number])[] = [];
  for (const [name, make] of Object.entries(POLICIES)) {
    policies.push([name, measure(fleet, await runPolicy(fleet, rate, seed, make)).meanMs]);
  }
  return {
    fleet,
    load,
    oracle: oracles.reduce((best, each) => (each.meanMs < best.meanMs ? each : best)),
    atoll: measure(fleet, await runScheduler(fleet, rate, seed)),
    policies,
  };
}

function rowOf({ fleet, load, oracle: best, atoll, policies }: Cell): string {
  const beside = (ms: number): string => (ms / best.meanMs).toFixed(2);
  const columns = [
    fleet.name,
    `${Math.round(100 * load)} %`,
    (best.meanMs / 1_000).toFixed(2),
    `**${beside(atoll.meanMs)}**`,
    (atoll.p95Ms / best.p95Ms).toFixed(2),
    ...policies.map(([, meanMs]) => beside(meanMs)),
    (atoll.readTokens / best.readTokens).toFixed(2),
    fleet.isEqual === true ? `${atoll.leastWork.toFixed(2)}–${atoll.mostWork.toFixed(2)}` : "",
    atoll.newcomerPart === null ? "" : `${atoll.newcomerPart.toFixed(2)} (${best.newcomerPart?.toFixed(2) ?? ""})`,
  ];
  return `| ${columns.join(" | ")} |`;
}

/** Returns the acceptable mean time at a load, divided by the oracle's. */
const limitAt = (load: number): number => (load > 0.6 ? MAX_RATIO_FULL : MAX_RATIO);

/** The goals of placement, each for the fleet and load that is farthest from it. */
function goalFigures(cells: readonly Cell[]): Figure[] {
  const limit = (what: string, unit: string, values: readonly number[], max: number): Figure => ({
    what,
    unit,
    values: [Math.max(...values)],
    budget: { text: `≤ ${max}`, isMet: ({ median }) => median <= max },
  });
  const ratios = (max: number): number[] =>
    cells.filter(({ load }) => limitAt(load) === max).map(({ atoll, oracle: best }) => atoll.meanMs / best.meanMs);
  const works = cells.filter(({ fleet }) => fleet.isEqual === true).map(({ atoll }) => atoll);
  const newcomers = cells
    .filter(({ fleet }) => fleet.name === "joins-faster")
    .flatMap(({ atoll }) => (atoll.newcomerPart === null ? [] : [1 / atoll.newcomerPart]));
  const read = cells.map(({ atoll, oracle: best }) => atoll.readTokens / best.readTokens);
  return [
    limit("Mean time of a chat up to 60 % load, worst fleet", "× oracle", ratios(MAX_RATIO), MAX_RATIO),
    limit("Mean time of a chat at 90 % load, worst fleet", "× oracle", ratios(MAX_RATIO_FULL), MAX_RATIO_FULL),
    limit("Prompt tokens read, worst fleet and load", "× oracle", read, MAX_READ_RATIO),
    limit(
      "Work of equal Islands, largest difference",
      "of the mean",
      works.map(({ leastWork, mostWork }) => Math.max(1 - leastWork, mostWork - 1)),
      MAX_WORK_DIFFERENCE,
    ),
    limit("Part of the capacity / part of the work, newcomer twice as fast", "", newcomers, 1),
  ];
}

function notesOf(cells: readonly Cell[]): string[] {
  const head = ["Fleet", "Load", "Oracle, s", "Atoll", "p95", ...Object.keys(POLICIES), "Read", "Work", "Newcomer"];
  const missed = cells.flatMap(({ fleet, load, oracle: best, atoll, policies }) => {
    const better = policies.filter(([, meanMs]) => meanMs < 0.995 * atoll.meanMs).map(([name]) => name.toLowerCase());
    const limit = limitAt(load);
    const isSlow = atoll.meanMs > limit * best.meanMs;
    const cell = `${fleet.name} at ${Math.round(100 * load)} %`;
    if (isSlow) return [`${cell} (above ${limit})`];
    return better.length === 0 ? [] : [`${cell} (${better.join(", ")})`];
  });
  return [
    [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...cells.map(rowOf)].join("\n"),
    "The columns from Atoll to Prefix-aware are the mean time of a chat divided by the oracle's; p95 is Atoll's divided by the oracle's. The oracle is the best of several that know all speeds and caches, but not how long a chat will be. The load is a part of the chats/s that an oracle completes while chats always wait. Read: prompt tokens that were read, divided by the oracle's. Work: least and most output tokens of equal Islands, divided by their part of the capacity. Newcomer: output tokens of the Island that joined, from the 100th chat after it joined, divided by its part of the capacity; in parentheses, the oracle's.",
    missed.length === 0
      ? "Atoll is within 1.1 of the oracle at 30 and 60 %, within 1.3 at 90 %, and no policy is faster."
      : `Another policy is more than 0.5 % faster, or a limit is missed, in: ${missed.join("; ")}. The other policies serve waiting chats in order of arrival, while Atoll lets accounts take turns.`,
  ];
}

function plotOf(cells: readonly Cell[]): LinePlot {
  const loads = [...new Set(cells.map(({ load }) => load))];
  const fleets = [...new Set(cells.map(({ fleet }) => fleet.name))].filter((name) => PLOTTED.includes(name));
  const names = ["Atoll", "Old rank", "Least busy", "Prefix-aware"];
  return {
    name: "fleet",
    title: "Mean time of a chat divided by the oracle's",
    x: { label: "load, %", values: loads.map((load) => Math.round(100 * load)), isLinear: true },
    panels: fleets.map((label) => ({
      label,
      lines: names.map((name) => ({
        name,
        points: loads.map((load) => {
          const cell = cells.find((each) => each.fleet.name === label && each.load === load);
          if (cell === undefined) return [];
          const ms = name === "Atoll" ? cell.atoll.meanMs : cell.policies.find(([policy]) => policy === name)?.[1];
          return ms === undefined ? [] : [ms / cell.oracle.meanMs];
        }),
      })),
    })),
  };
}
const PLOTTED = ["equal", "uneven", "joins-faster", "conversations"];

/** Measures a decision at 10,000 Islands in processes that do nothing else. */
async function decisionFigure(isQuick: boolean): Promise<Figure> {
  const values: number[] = [];
  for (let run = 0; run < (isQuick ? 1 : DECISION_RUNS); run += 1) {
    await using worker = await Worker.start<DecisionApi>(join(import.meta.dirname, "decision.ts"));
    values.push(await worker.call("measure", { islands: isQuick ? 100 : 10_000, decisions: isQuick ? 300 : 10_000 }));
  }
  return {
    what: "Decision for an arriving chat, 10,000 Islands",
    unit: "µs",
    values,
    budget: { text: `≤ ${MAX_DECISION_US} µs`, isMet: ({ median }) => median <= MAX_DECISION_US },
  };
}
