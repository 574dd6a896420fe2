import * as fc from "fast-check";
import type { CargoManifest } from "../../../shared/cargo.ts";
import { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEffect, SchedulerEvent, SchedulerIsland } from "../../../coordinator/scheduler/events.ts";
import { GB, makeCargo, makeIsland, makeJob, MINUTE_MS, SCHEDULER_RULES, START_MS } from "./builders.ts";

const cargos = [
  makeCargo({ slug: "small", requiredRamBytes: 2 * GB }),
  makeCargo({ slug: "large", requiredRamBytes: 12 * GB, model: { url: "hf:a/large", sha256: null, sizeBytes: null } }),
  makeCargo({ slug: "gpu", requiredVramBytes: 4 * GB, model: null }),
  makeCargo({ slug: "embed", runtimeType: "onnx", model: { url: "hf:a/embed", sha256: null, sizeBytes: null } }),
];
const catalog = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
const slugs = [...catalog.keys(), "unknown"];
export const findCargo = (slug: string): CargoManifest | undefined => catalog.get(slug);

export function newScheduler(): Scheduler {
  return new Scheduler(findCargo, ...SCHEDULER_RULES);
}

type Assignment = Extract<SchedulerEffect, { kind: "assign" }>;
export function assignments(effects: readonly SchedulerEffect[]): Assignment[] {
  return effects.filter((effect) => effect.kind === "assign");
}

const makeServed = (slots: number) => {
  return { key: "hf:a/large", slots, features: ["chat.a"], contextTokens: null, parameters: null, quantization: null };
};

const islandId = fc.constantFrom("isle-1", "isle-2", "isle-3", "isle-4");
const island: fc.Arbitrary<SchedulerIsland> = fc
  .record({
    id: islandId,
    accountId: fc.constantFrom("user_a", "user_b"),
    runtimes: fc.constantFrom<SchedulerIsland["runtimes"][]>(["llmcpp"], ["llmcpp", "onnx"], ["onnx"]),
    ramBytes: fc.constantFrom(GB, 8 * GB, 16 * GB),
    vramBytes: fc.constantFrom(0, 8 * GB),
    slots: fc.integer({ min: 0, max: 4 }),
    runtimeSlots: fc.constantFrom(undefined, undefined, 1, 2),
    engineModels: fc.constantFrom(undefined, undefined, [makeServed(1)], [makeServed(2)]),
    draining: fc.constantFrom(false, false, false, true),
    features: fc.constantFrom(undefined, ["chat.a"], ["chat.b", "chat.a"]),
    cachedModels: fc.subarray(["hf:owner/repo", "hf:a/large", "hf:a/embed"]),
    loaded: fc.subarray(slugs),
    downloads: fc.subarray(slugs).map((list) => list.map((slug) => ({ slug, fraction: 0.5 }))),
    rttMs: fc.constantFrom(null, 5, 300),
  })
  .map(makeIsland);

const SHARES = { user_a: 100, user_b: 300, user_c: 30 };
export const job = fc
  .record({
    accountId: fc.constantFrom("user_a" as const, "user_b" as const, "user_c" as const),
    slug: fc.constantFrom(...slugs),
    jobClass: fc.constantFrom("chat" as const, "batch" as const),
    onlyIslandsOf: fc.constantFrom(null, null, null, "user_a"),
    features: fc.constantFrom(undefined, undefined, [], ["chat.a"], ["chat.a", "chat.b"]),
    priority: fc.constantFrom(50, 50, 50, 51, 90),
    createdAtMs: fc.constantFrom(0, 1, 2, MINUTE_MS, 2 * MINUTE_MS).map((ms) => START_MS + ms),
    avoidIslands: fc.subarray(["isle-1", "isle-2", "isle-3"]),
  })
  .map((each) => makeJob({ ...each, share: SHARES[each.accountId] }));

const tag = <K extends string>(kind: K): fc.Arbitrary<K> => fc.constant(kind);
/**
 * Events with placeholder job ids. New ids are assigned when the sequence is built, and other ids refer to earlier
 * jobs.
 */
const event: fc.Arbitrary<SchedulerEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: tag("job_waiting"), job }) },
  { weight: 3, arbitrary: fc.record({ kind: tag("job_offered"), job }) },
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
      kind: tag("run_ended"),
      islandId,
      jobId: fc.constant(""),
      slug: fc.constantFrom(...slugs),
      tokens: fc.constantFrom(null, { prompt: 100, cached: null, output: 50 }, { prompt: 900, cached: 800, output: 9 }),
      succeeded: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: tag("cargo_changed"), slug: fc.constantFrom(...slugs) }) },
);

/** Events that include failures of Islands, which the naive scheduler does not implement. */
const stormyEvent: fc.Arbitrary<SchedulerEvent> = fc.oneof(
  { weight: 8, arbitrary: event },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: tag("failure"),
      islandId,
      slug: fc.constantFrom(...slugs),
      accountId: fc.constantFrom("user_a", "user_b"),
      cause: fc.constantFrom("refused" as const, "failed" as const, "lost" as const),
      code: fc.constantFrom("internal" as const, "manifest_untrusted" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: tag("time_passed") }) },
);

/** Gives each job its own id. Every 17th job repeats an earlier id, as after the loss of an Island. */
const sequenceOf = (one: fc.Arbitrary<SchedulerEvent>): fc.Arbitrary<SchedulerEvent[]> =>
  fc.array(one, { maxLength: 120, size: "max" }).map((list) =>
    list.map((each, index): SchedulerEvent => {
      if (each.kind === "job_offered") return { kind: each.kind, job: { ...each.job, id: `offer_${index}` } };
      if (each.kind !== "job_waiting") return each;
      return { kind: each.kind, job: { ...each.job, id: `job_${index % 17 === 0 ? 0 : index}` } };
    }),
  );
export const events = sequenceOf(event);
export const stormyEvents = sequenceOf(stormyEvent);

/** Replaces the job of a freed slot by a job that runs on the Island. Each step is 2 s after the previous one. */
export class Runs {
  readonly #running = new Map<string, string[]>();
  nowMs = START_MS;

  begin(event: SchedulerEvent): SchedulerEvent {
    this.nowMs += 2_000;
    if (event.kind === "island_up" || event.kind === "island_down") {
      this.#running.delete(event.kind === "island_up" ? event.island.id : event.islandId);
    }
    if (event.kind === "run_ended")
      return { ...event, jobId: this.#running.get(event.islandId)?.[0] ?? "job_of_before" };
    if (event.kind !== "slot_freed") return event;
    return { ...event, jobId: this.#running.get(event.islandId)?.shift() ?? "job_of_before" };
  }

  end(effects: readonly SchedulerEffect[]): void {
    for (const { jobId, islandId } of assignments(effects)) {
      this.#running.set(islandId, [...(this.#running.get(islandId) ?? []), jobId]);
    }
  }
}
