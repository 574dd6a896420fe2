import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { fits, type ScheduledCargo } from "../../../coordinator/scheduler/fit.ts";
import {
  Scheduler,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerIsland,
  type WaitingJob,
} from "../../../coordinator/scheduler/scheduler.ts";
import { GB, makeCargo, makeIsland, makeJob, MINUTE_MS, SCHEDULER_OPTIONS, START_MS } from "./builders.ts";
import { NaiveScheduler } from "./naive-scheduler.ts";
import { soakRounds } from "../../support/soak-rounds.ts";

const cargos = [
  makeCargo({ slug: "small", requiredRamBytes: 2 * GB }),
  makeCargo({ slug: "large", requiredRamBytes: 12 * GB, model: { url: "hf:a/large", sha256: null, sizeBytes: null } }),
  makeCargo({ slug: "gpu", requiredVramBytes: 4 * GB, model: null }),
  makeCargo({ slug: "embed", runtimeType: "onnx", model: { url: "hf:a/embed", sha256: null, sizeBytes: null } }),
];
const catalog = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
const slugs = [...catalog.keys(), "unknown"];
const findCargo = (slug: string): CargoManifest | undefined => catalog.get(slug);

function newScheduler(): Scheduler {
  return new Scheduler({ cargos: findCargo, ...SCHEDULER_OPTIONS });
}

type Assignment = Extract<SchedulerEffect, { kind: "assign" }>;
function assignments(effects: readonly SchedulerEffect[]): Assignment[] {
  return effects.filter((effect) => effect.kind === "assign");
}

const islandId = fc.constantFrom("isle-1", "isle-2", "isle-3", "isle-4");
const island: fc.Arbitrary<SchedulerIsland> = fc
  .record({
    id: islandId,
    accountId: fc.constantFrom("user_a", "user_b"),
    runtimes: fc.constantFrom<SchedulerIsland["runtimes"][]>(["llmcpp"], ["llmcpp", "onnx"], ["onnx"]),
    ramBytes: fc.constantFrom(GB, 8 * GB, 16 * GB),
    vramBytes: fc.constantFrom(0, 8 * GB),
    slots: fc.integer({ min: 0, max: 4 }),
    draining: fc.constantFrom(false, false, false, true),
    cachedModels: fc.subarray(["hf:owner/repo", "hf:a/large", "hf:a/embed"]),
    loaded: fc.subarray(slugs),
    downloads: fc.subarray(slugs).map((list) => list.map((slug) => ({ slug, fraction: 0.5 }))),
    cpuLoad: fc.constantFrom(null, 0, 0.9),
    rttMs: fc.constantFrom(null, 5, 300),
  })
  .map(makeIsland);

const SHARES = { user_a: 100, user_b: 300, user_c: 30 };
const job = fc
  .record({
    accountId: fc.constantFrom("user_a" as const, "user_b" as const, "user_c" as const),
    slug: fc.constantFrom(...slugs),
    jobClass: fc.constantFrom("chat" as const, "batch" as const),
    onlyIslandsOf: fc.constantFrom(null, null, null, "user_a"),
    priority: fc.constantFrom(50, 50, 50, 51, 90),
    createdAtMs: fc.constantFrom(0, 1, 2, MINUTE_MS, 2 * MINUTE_MS).map((ms) => START_MS + ms),
    avoidIslands: fc.subarray(["isle-1", "isle-2", "isle-3"]),
  })
  .map((each) => makeJob({ ...each, share: SHARES[each.accountId] }));

const tag = <K extends string>(kind: K): fc.Arbitrary<K> => fc.constant(kind);
/** Job ids are numbered when the sequence is run, or point back to an earlier job. */
const event: fc.Arbitrary<SchedulerEvent> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: tag("job_waiting"), job }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: tag("job_gone"), jobId: fc.integer({ min: 0, max: 40 }).map((n) => `job_${n}`) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: tag("island_up"), island, busy: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: tag("island_changed"), island }) },
  { weight: 1, arbitrary: fc.record({ kind: tag("island_down"), islandId }) },
  { weight: 6, arbitrary: fc.record({ kind: tag("slot_freed"), islandId, jobId: fc.constant("") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: tag("measured"),
      islandId,
      slug: fc.constantFrom(...slugs),
      tokensPerSecond: fc.constantFrom(null, 1, 12, 80),
      succeeded: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: tag("cargo_changed"), slug: fc.constantFrom(...slugs) }) },
);

/** Each job gets an id of its own; now and then an earlier id comes again, as after a lost Island. */
const events = fc.array(event, { maxLength: 120, size: "max" }).map((list) =>
  list.map((each, index): SchedulerEvent => {
    if (each.kind !== "job_waiting") return each;
    return { kind: "job_waiting", job: { ...each.job, id: `job_${index % 17 === 0 ? 0 : index}` } };
  }),
);

/** Replaces a freed slot without a job by that of a job that the Island has; each step is 2 s after the one before. */
class Runs {
  readonly #running = new Map<string, string[]>();
  nowMs = START_MS;

  begin(event: SchedulerEvent): SchedulerEvent {
    this.nowMs += 2_000;
    if (event.kind === "island_up" || event.kind === "island_down") {
      this.#running.delete(event.kind === "island_up" ? event.island.id : event.islandId);
    }
    if (event.kind !== "slot_freed") return event;
    return { ...event, jobId: this.#running.get(event.islandId)?.shift() ?? "job_of_before" };
  }

  end(effects: readonly SchedulerEffect[]): void {
    for (const { jobId, islandId } of assignments(effects)) {
      this.#running.set(islandId, [...(this.#running.get(islandId) ?? []), jobId]);
    }
  }
}

/** Runs both schedulers side by side and lets `check` look after every step. */
function replay(
  list: readonly SchedulerEvent[],
  check: (real: Scheduler, naive: NaiveScheduler, event: SchedulerEvent) => void,
): void {
  const real = newScheduler();
  const naive = new NaiveScheduler(findCargo);
  const runs = new Runs();
  for (const listed of list) {
    const each = runs.begin(listed);
    const expected = naive.step(each, runs.nowMs);
    runs.end(expected);
    expect(real.step(each, runs.nowMs)).toEqual(expected);
    check(real, naive, each);
  }
}

const runs = { numRuns: soakRounds(400) };

describe("Scheduler, over random events", () => {
  it("does what the rules say, looked up without any index", () => {
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

  it("assigns a waiting job once, to an Island that fits it and has a free slot", () => {
    fc.assert(
      fc.property(events, (list) => {
        const real = newScheduler();
        const waiting = new Map<string, WaitingJob>();
        const islands = new Map<string, { info: SchedulerIsland; inUse: number }>();
        for (const each of list) {
          if (each.kind === "job_waiting") waiting.set(each.job.id, each.job);
          if (each.kind === "job_gone") waiting.delete(each.jobId);
          if (each.kind === "island_up") islands.set(each.island.id, { info: each.island, inUse: each.busy });
          if (each.kind === "island_down") islands.delete(each.islandId);
          const known = islands.get(each.kind === "island_changed" ? each.island.id : "");
          if (each.kind === "island_changed" && known !== undefined) known.info = each.island;
          const freed = islands.get(each.kind === "slot_freed" ? each.islandId : "");
          if (freed !== undefined) freed.inUse = Math.max(0, freed.inUse - 1);
          for (const { jobId, islandId } of assignments(real.step(each, START_MS))) {
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

  it("lets nothing wait while a slot is free that it may have", () => {
    fc.assert(
      fc.property(events, (list) => {
        replay(list, (real, naive) => {
          for (const waiting of naive.waiting.values()) {
            const open = naive.open(waiting).filter(({ info }) => real.freeSlots(info.id) > 0);
            expect(open, `${waiting.id} waits`).toEqual([]);
          }
        });
      }),
      runs,
    );
  });

  it("explains exactly the waiting jobs, with a reason that is true", () => {
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
        // What happened before gives the accounts different places and estimates.
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

  it("does the same for the same events", () => {
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

/** Lets the jobs wait for the Cargo "small", takes some back, and returns those that are left. */
function queueUp(real: Scheduler, jobs: readonly WaitingJob[], gone: readonly number[]): WaitingJob[] {
  const queued = jobs.map((each, index): WaitingJob => {
    return { ...each, slug: "small", jobClass: "batch", onlyIslandsOf: null, id: `job_${index}` };
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
  if (!online.some(({ runtimes }) => runtimes.includes(cargo.runtimeType))) return "no_island_offers_runtime";
  const fitting = naive.fitting(waiting).map(({ info }) => info);
  if (fitting.length === 0) return "no_island_fits";
  const key = cargo.model?.url;
  const someHasIt = fitting.some(
    ({ loaded, cachedModels }) => key === undefined || loaded.includes(slug) || cachedModels.includes(key),
  );
  const someFetchesIt = fitting.some(({ downloads }) => downloads.some((download) => download.slug === slug));
  return !someHasIt && someFetchesIt ? "model_downloading" : "all_busy";
}
