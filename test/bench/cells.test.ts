import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { describeAll } from "../../bench/cells/describe.ts";
import { FreeTimes } from "../../bench/cells/free-times.ts";
import { computeCellMetrics } from "../../bench/cells/cell-metrics.ts";
import { Fleet } from "../../bench/cells/fleet.ts";
import { LOCAL_LATENCIES } from "../../bench/cells/latency.ts";
import { SHARINGS } from "../../bench/cells/sharings.ts";
import { simulate, type Outcome, type Sharing } from "../../bench/cells/simulation.ts";
import { VirtualClock } from "../../bench/cells/virtual-clock.ts";
import { Workload } from "../../bench/cells/workload.ts";
import { Random } from "../support/random.ts";

const SEED = 7;
const fleet = new Fleet(200, SEED);
const phases = [{ fromMs: 0, load: 0.9 }];
const workload = new Workload(fleet, { jobs: 1_500, accounts: 40, phases, seed: SEED });
const scenario = { islands: "ramp", routing: "request", phases, window: { fromMs: 0, toMs: 60_000 } } as const;

function run(coordinators: number, sharing: Sharing): Promise<Outcome> {
  return simulate({ coordinators, fleet, workload, scenario, sharing, latencies: LOCAL_LATENCIES, seed: SEED });
}

const named = (name: string): Sharing => SHARINGS[name] as Sharing;

it("VirtualClock runs due tasks in order, and settles their promises before it advances the time", async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const log = (what: string): number => seen.push(`${what} at ${clock.monotonicMs()}`);
  const work = async (): Promise<void> => {
    await clock.sleep(5);
    log("slept");
    await Promise.resolve();
    await clock.sleep(0);
    log("slept again");
  };
  void work();
  clock.after(6, () => log("later"));
  clock.after(5, () => log("same time")).cancel();
  clock.after(6, () => log("last"));
  await clock.runUntil(() => seen.length === 4);
  expect(seen).toEqual(["slept at 5", "slept again at 5", "later at 6", "last at 6"]);
});

describe("FreeTimes", () => {
  it("returns the longest time in a period in which one Island had a free slot throughout", () => {
    const times = new FreeTimes();
    const free = (island: number, fromMs: number, toMs: number): void => {
      times.change(island, 2, fromMs);
      times.change(island, -2, toMs);
    };
    free(1, 0, 500);
    expect(times.longestSince(100, 600)).toBe(400);
    expect(times.longestSince(500, 600)).toBe(0);
    // Times of different Islands are not added up.
    free(2, 600, 700);
    free(3, 700, 850);
    free(4, 850, 900);
    expect(times.longestSince(550, 1_000)).toBe(150);
    expect(times.longestSince(780, 1_000)).toBe(70);
    expect(times.longestSince(100, 1_000)).toBe(400);
    times.change(5, 1, 950);
    times.change(5, 1, 1_000);
    times.change(5, -1, 1_050);
    expect(times.longestSince(860, 1_100)).toBe(150);
    expect(times.longestSince(1_080, 1_100)).toBe(20);
    expect(() => times.change(5, -2, 1_100)).toThrow("-1 free slots");
  });

  it("agrees with a comparison of all periods", () => {
    const random = new Random(SEED);
    const times = new FreeTimes();
    const all = new Map<number, { fromMs: number; toMs: number }[]>();
    for (let nowMs = 1; nowMs < 2_000; nowMs += random.between(0, 5)) {
      const island = random.between(0, 9);
      const own = all.get(island) ?? [];
      all.set(island, own);
      const last = own.at(-1);
      const isFree = last?.toMs === Number.POSITIVE_INFINITY;
      times.change(island, isFree ? -1 : 1, nowMs);
      if (isFree) last.toMs = nowMs;
      else own.push({ fromMs: nowMs, toMs: Number.POSITIVE_INFINITY });
      const sinceMs = random.between(0, nowMs);
      const lengths = [...all.values()].flat().map(({ fromMs, toMs }) => {
        return Math.min(toMs, nowMs) - Math.max(fromMs, sinceMs);
      });
      expect(times.longestSince(sinceMs, nowMs)).toBe(Math.max(0, ...lengths));
    }
  });
});

describe("simulate()", () => {
  it("moves no jobs with one coordinator, and starts them in the scheduler's order", async () => {
    const one = await run(1, named("stealing"));
    const figures = computeCellMetrics(1, workload, one, one);
    expect(figures).toMatchObject({ stolen: 0, misplaced: 0, outOfOrder: 0, besideMs: { max: 0 } });
  });

  it("starts every job once, without a wait above 1 s while a suitable slot is free at any coordinator", async () => {
    const figures = computeCellMetrics(4, workload, await run(4, named("stealing")), await run(1, named("stealing")));
    expect(figures.stolen).toBeGreaterThan(0.1);
    expect(figures.besideOverSecond).toBe(0);
  });

  it("gives the same outcome for the same seed", async () => {
    const [first, second] = [await run(3, named("stealing")), await run(3, named("stealing"))];
    expect([second.traffic, second.tookMs]).toEqual([first.traffic, first.tookMs]);
    expect(second.observer.startMs).toEqual(first.observer.startMs);
  });

  it("leaves jobs waiting despite suitable free slots if coordinators share nothing", async () => {
    // Each coordinator has Islands, but only some of them have the Islands that large Cargos need.
    const figures = computeCellMetrics(2, workload, await run(2, named("none")), await run(1, named("none")));
    expect(figures.stolen).toBe(0);
    expect(figures.besideOverSecond).toBeGreaterThan(0);
  });
});

it("describeAll() links to an existing page", () => {
  const [, link = ""] = /\]\((.+?)\)/.exec(describeAll({})) ?? [];
  expect(existsSync(join(import.meta.dirname, "..", "..", "docs", "scale", link))).toBe(true);
});
