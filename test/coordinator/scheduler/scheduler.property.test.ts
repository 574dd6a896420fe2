import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { engineModelFor, fits, type ScheduledCargo } from "../../../coordinator/scheduler/fit.ts";
import type { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type {
  SchedulerEffect,
  SchedulerEvent,
  SchedulerIsland,
  WaitingJob,
} from "../../../coordinator/scheduler/events.ts";
import { makeIsland, START_MS } from "./builders.ts";
import type { NaiveScheduler } from "./naive-scheduler.ts";
import { assignments, events, findCargo, job, newScheduler, Runs, stormyEvents } from "./random-events.ts";
import { replay } from "./replay.ts";
import { soakRounds } from "../../support/soak-rounds.ts";

const runs = { numRuns: soakRounds(400) };

describe("Scheduler with random events", () => {
  it("matches the reference implementation without indices", () => {
    fc.assert(
      fc.property(events, (list) => {
        replay(list, (real, naive) => {
          expect(real.waitingCount).toBe(naive.waiting.size);
          for (const [id, { info, inUse }] of naive.islands) {
            expect(real.freeSlots(id)).toBe(Math.max(0, info.slots - inUse));
          }
        });
      }),
      runs,
    );
  });

  it("assigns a waiting job once, to a fitting Island with a free slot", () => {
    fc.assert(
      fc.property(stormyEvents, (list) => {
        const real = newScheduler();
        const waiting = new Map<string, WaitingJob>();
        const islands = new Map<string, { info: SchedulerIsland; inUse: number }>();
        const history = new Runs();
        const step = (each: SchedulerEvent): SchedulerEffect[] => {
          const effects = real.step(each, history.nowMs);
          history.end(effects);
          return effects;
        };
        for (const listed of list) {
          const each = history.begin(listed);
          if (each.kind === "job_waiting" || each.kind === "job_offered") waiting.set(each.job.id, each.job);
          if (each.kind === "job_gone") waiting.delete(each.jobId);
          if (each.kind === "island_up") islands.set(each.island.id, { info: each.island, inUse: each.busy });
          if (each.kind === "island_down") islands.delete(each.islandId);
          const known = islands.get(each.kind === "island_changed" ? each.island.id : "");
          if (each.kind === "island_changed" && known !== undefined) known.info = each.island;
          const freed = islands.get(each.kind === "slot_freed" ? each.islandId : "");
          if (freed !== undefined) freed.inUse = Math.max(0, freed.inUse - 1);
          for (const { jobId, islandId } of assignments(step(each))) {
            const cargo = scheduledCargo(waiting.get(jobId));
            const target = islands.get(islandId);
            if (cargo === undefined || target === undefined) throw new Error(`${jobId} on ${islandId} is not possible`);
            expect(waiting.delete(jobId)).toBe(true);
            expect(fits(cargo, target.info)).toBe(true);
            target.inUse += 1;
            expect(target.inUse).toBeLessThanOrEqual(target.info.slots);
          }
        }
      }),
      runs,
    );
  });

  it("leaves no job waiting while a slot that it may use is free, except for a busy Island", () => {
    fc.assert(
      fc.property(events, (list) => {
        replay(list, (real, naive) => {
          for (const waiting of naive.waiting.values()) {
            const open = naive.open(waiting).filter(({ info }) => real.freeSlots(info.id) > 0);
            if (real.heldFor(waiting.id) !== null) continue;
            expect(open, `${waiting.id} waits`).toEqual([]);
          }
        });
      }),
      runs,
    );
  });

  it("explains exactly the waiting jobs, with a true reason", () => {
    fc.assert(
      fc.property(events, (list) => {
        replay(list, (real, naive, { kind }) => {
          for (const id of Array.from({ length: 120 }, (_, index) => `job_${index}`)) {
            const waiting = naive.waiting.get(id);
            expect(real.explain(id) === null, `${id} after ${kind}`).toBe(waiting === undefined);
            if (waiting !== undefined) expect(real.explain(id)?.reason).toBe(trueReason(naive, waiting));
          }
        });
      }),
      { numRuns: soakRounds(60) },
    );
  });

  it("numbers the waiting jobs of a Cargo and class in the order in which they start", () => {
    fc.assert(
      fc.property(events, fc.array(job, { maxLength: 40, size: "max" }), fc.array(fc.nat(40)), (before, jobs, gone) => {
        const real = newScheduler();
        const history = new Runs();
        // Earlier events give the accounts different tags and estimates.
        for (const each of before) history.end(real.step(history.begin(each), history.nowMs));
        for (const id of ["isle-1", "isle-2", "isle-3", "isle-4"])
          real.step({ kind: "island_down", islandId: id }, history.nowMs);
        for (let index = 0; index < 120; index += 1)
          real.step({ kind: "job_gone", jobId: `job_${index}` }, history.nowMs);
        const left = queueUp(real, jobs, gone);
        const reported = new Map(left.map(({ id }) => [id, positionOf(real, id)]));
        const up = real.step({ kind: "island_up", island: makeIsland({ slots: 1_000 }), busy: 0 }, history.nowMs);
        expect(assignments(up).map(({ jobId }) => reported.get(jobId))).toEqual(left.map((_, index) => index + 1));
      }),
      runs,
    );
  });

  it("produces the same effects for the same events", () => {
    fc.assert(
      fc.property(events, (list) => {
        const play = (): unknown[] => {
          const scheduler = newScheduler();
          const played = new Runs();
          return list.map((each) => {
            const effects = scheduler.step(played.begin(each), played.nowMs);
            played.end(effects);
            return effects;
          });
        };
        expect(play()).toEqual(play());
      }),
      { numRuns: soakRounds(50) },
    );
  });
});

/** Queues the jobs for the Cargo "small", removes some of them, and returns the remaining ones. */
function queueUp(real: Scheduler, jobs: readonly WaitingJob[], gone: readonly number[]): WaitingJob[] {
  const queued = jobs.map((each, index): WaitingJob => {
    return { ...each, slug: "small", jobClass: "batch", onlyIslandsOf: null, features: [], id: `job_${index}` };
  });
  for (const each of queued) real.step({ kind: "job_waiting", job: each }, START_MS);
  for (const index of gone) real.step({ kind: "job_gone", jobId: `job_${index}` }, START_MS);
  return queued.filter((_, index) => !gone.includes(index));
}

function positionOf(real: Scheduler, jobId: string): number {
  return real.explain(jobId)?.position ?? Number.NaN;
}

function scheduledCargo(waiting: WaitingJob | undefined): ScheduledCargo | undefined {
  const cargo = waiting === undefined ? undefined : findCargo(waiting.slug);
  return cargo === undefined ? undefined : { ...cargo, onlyIslandsOf: waiting?.onlyIslandsOf ?? null };
}

function trueReason(naive: NaiveScheduler, waiting: WaitingJob): string {
  const { slug, onlyIslandsOf } = waiting;
  const cargo = findCargo(slug);
  if (cargo === undefined) return "no_island_fits";
  const all = [...naive.islands.values()].map(({ info }) => info);
  const online = all.filter(({ accountId }) => onlyIslandsOf === null || accountId === onlyIslandsOf);
  if (onlyIslandsOf !== null && online.length === 0) return "own_islands_only";
  if (online.length === 0) return "no_island_online";
  const isServed = (island: SchedulerIsland): boolean => engineModelFor(cargo, island) !== undefined;
  if (!online.some((each) => isServed(each) || each.runtimes.includes(cargo.runtimeType)))
    return "no_island_offers_runtime";
  const fitting = naive.fitting(waiting).map(({ info }) => info);
  if (fitting.length === 0) return "no_island_fits";
  const key = cargo.model?.url;
  const someHasIt = fitting.some(
    (each) => key === undefined || each.loaded.includes(slug) || each.cachedModels.includes(key) || isServed(each),
  );
  const someFetchesIt = fitting.some(({ downloads }) => downloads.some((download) => download.slug === slug));
  return !someHasIt && someFetchesIt ? "model_downloading" : "all_busy";
}
