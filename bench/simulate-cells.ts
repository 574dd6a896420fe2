import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../shared/clock.ts";
import { describeAll, describeScenario, plotsOf, type StoredScenario } from "./cells/describe.ts";
import { computeCellMetrics, type CellMetrics } from "./cells/cell-metrics.ts";
import { Fleet } from "./cells/fleet.ts";
import { LOCAL_LATENCIES, type Latencies } from "./cells/latency.ts";
import { SCENARIOS, type Scenario } from "./cells/scenarios.ts";
import { SHARINGS } from "./cells/sharings.ts";
import { simulate, type Outcome } from "./cells/simulation.ts";
import { Workload } from "./cells/workload.ts";
import { drawLinePlot } from "./harness/line-plot.ts";

/**
 * `npm run bench:cells` runs the real scheduler in many coordinators in virtual time, and compares them with one scheduler that has all
 * jobs and Islands. Writes docs/scale/. `--quick` writes nothing.
 */

const { values } = parseArgs({
  options: {
    coordinators: { type: "string", default: "1,2,4,8,16,32,64" },
    islands: { type: "string", default: "100000" },
    jobs: { type: "string", default: "1000000" },
    scenario: { type: "string", multiple: true },
    sharing: { type: "string", default: "stealing" },
    /** Factor for all measured latencies. */
    slower: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    quick: { type: "boolean", default: false },
    /** Whether to draw the stored results without a simulation. */
    draw: { type: "boolean", default: false },
    write: { type: "string", default: join(import.meta.dirname, "..", "docs", "scale") },
  },
});

const positive = (name: string, text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} ${text} must be a number above 0`);
  return value;
};
const seed = positive("seed", values.seed);
const islands = values.quick ? 2_000 : positive("islands", values.islands);
const jobs = values.quick ? 20_000 : positive("jobs", values.jobs);
const sizes = values.quick ? [1, 4] : values.coordinators.split(",").map((text) => positive("coordinators", text));
const sharing = SHARINGS[values.sharing];
if (sharing === undefined) throw new Error(`Unknown --sharing: must be one of ${Object.keys(SHARINGS).join(", ")}`);
const latencies = slower(LOCAL_LATENCIES, positive("slower", values.slower));
const chosen = SCENARIOS.filter(({ name }) => values.scenario?.includes(name) ?? true);
if (chosen.length === 0)
  throw new Error(`Unknown --scenario: must be one of ${SCENARIOS.map(({ name }) => name).join(", ")}`);
const FILE = "cells.json";
/** Average number of jobs of an account. */
const JOBS_PER_ACCOUNT = 50;

if (values.draw) await draw(await readStored());
else await runAll();

async function runAll(): Promise<void> {
  const fleet = new Fleet(islands, seed);
  for (const scenario of chosen) {
    const runs = await runScenario(fleet, scenario);
    const stored: StoredScenario = { title: scenario.title, islands, slots: fleet.slots, jobs, runs };
    console.log(`\n${describeScenario(stored)}\n`);
    if (!values.quick) await store(scenario.name, stored);
  }
}

async function runScenario(fleet: Fleet, scenario: Scenario): Promise<CellMetrics[]> {
  const accounts = Math.ceil(jobs / JOBS_PER_ACCOUNT);
  const workload = new Workload(fleet, { jobs, accounts, phases: scenario.phases, seed });
  const run = (coordinators: number): Promise<Outcome> =>
    simulate({ coordinators, fleet, workload, scenario, sharing: sharing ?? (() => undefined), latencies, seed });
  const ideal = await run(1);
  const figures: CellMetrics[] = [];
  for (const coordinators of sizes) {
    const beganMs = systemClock.monotonicMs();
    figures.push(
      computeCellMetrics(coordinators, workload, coordinators === 1 ? ideal : await run(coordinators), ideal),
    );
    const seconds = ((systemClock.monotonicMs() - beganMs) / 1_000).toFixed(0);
    console.log(`  ${scenario.name}, ${coordinators}: ${seconds} s`);
  }
  return figures;
}

/** Replaces the stored results of this scenario, and redraws all plots. */
async function store(name: string, stored: StoredScenario): Promise<void> {
  await mkdir(values.write, { recursive: true });
  const all = { ...(await readStored()), [name]: stored };
  await writeFile(join(values.write, FILE), `${JSON.stringify(all, null, 1)}\n`);
  await draw(all);
}

async function readStored(): Promise<Record<string, StoredScenario>> {
  const text = await readFile(join(values.write, FILE), "utf8").catch(() => "{}");
  return JSON.parse(text) as Record<string, StoredScenario>;
}

async function draw(all: Readonly<Record<string, StoredScenario>>): Promise<void> {
  for (const plot of plotsOf(all)) await writeFile(join(values.write, `${plot.name}.svg`), drawLinePlot(plot));
  await writeFile(join(values.write, "figures.md"), describeAll(all));
}

function slower({ bus, transfer, adopt }: Latencies, times: number): Latencies {
  const scale = ({ p50Ms, p99Ms }: Latencies["bus"]) => ({ p50Ms: p50Ms * times, p99Ms: p99Ms * times });
  return { bus: scale(bus), transfer: scale(transfer), adopt: scale(adopt) };
}
