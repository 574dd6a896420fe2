import { beforeEach, describe, expect, it, vi } from "vitest";
import type { IndexedHeap as RealHeap } from "../../../coordinator/scheduler/indexed-heap.ts";
import { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEffect, SchedulerEvent } from "../../../coordinator/scheduler/events.ts";
import { makeCargo, makeIsland, makeJob, SCHEDULER_RULES, START_MS } from "./builders.ts";

/** Comparisons in heaps and reads of Island facts. A scan over all jobs or all Islands raises one of them. */
const cost = vi.hoisted(() => ({ comparisons: 0, reads: 0 }));

vi.mock("../../../coordinator/scheduler/indexed-heap.ts", async (importOriginal) => {
  const { IndexedHeap } = await importOriginal<{ IndexedHeap: typeof RealHeap }>();
  class CountingHeap<T extends { heapIndex: number }> extends IndexedHeap<T> {
    protected override isBefore(a: number, b: number): boolean {
      cost.comparisons += 1;
      return super.isBefore(a, b);
    }
  }
  return { IndexedHeap: CountingHeap };
});

const SLUGS = ["alpha", "beta", "gamma", "delta"];
const catalog = new Map(SLUGS.map((slug) => [slug, makeCargo({ slug })]));
/** A Cargo that no Island can run. Its jobs make the queues long and are never served. */
catalog.set("stuck", makeCargo({ slug: "stuck", runtimeType: "coreml" }));

function counted<T extends object>(facts: T): T {
  return new Proxy(facts, {
    get(target, key, receiver): unknown {
      cost.reads += 1;
      return Reflect.get(target, key, receiver);
    },
  });
}

interface Load {
  readonly jobs: number;
  readonly islands: number;
  readonly busy: boolean;
  readonly slugs: readonly string[];
  readonly accounts: number;
}

class Fleet {
  readonly #scheduler = new Scheduler((slug) => catalog.get(slug), ...SCHEDULER_RULES);
  readonly #load: Load;
  #jobs = 0;
  #nowMs = START_MS;
  readonly #running = new Map<string, string>();

  constructor(load: Load) {
    this.#load = load;
    for (let index = 0; index < load.islands; index += 1) {
      const island = counted(makeIsland({ id: `isle-${index}`, rttMs: 1 + (index % 200) }));
      this.step({ kind: "island_up", island, busy: load.busy ? 1 : 0 });
    }
    // Build the index of every Cargo before counting starts.
    for (const slug of SLUGS) this.#warmUp(slug);
    for (let index = 0; index < load.jobs; index += 1) this.submit(load.slugs[index % load.slugs.length] ?? "");
  }

  step(event: SchedulerEvent): SchedulerEffect[] {
    this.#nowMs += 1_000;
    const effects = this.#scheduler.step(event, this.#nowMs);
    for (const effect of effects) if (effect.kind === "assign") this.#running.set(effect.islandId, effect.jobId);
    return effects;
  }

  /** Ends the job of the Island. */
  free(islandId: string): SchedulerEffect[] {
    return this.step({ kind: "slot_freed", islandId, jobId: this.#running.get(islandId) ?? "job_of_before" });
  }

  submit(slug: string): SchedulerEffect[] {
    this.#jobs += 1;
    const accountId = `user_${(this.#jobs * 7) % this.#load.accounts}`;
    const priority = 50 + (this.#jobs % 3);
    const createdAtMs = START_MS + this.#jobs;
    return this.step({
      kind: "job_waiting",
      job: makeJob({ id: `job_${this.#jobs}`, slug, accountId, priority, createdAtMs }),
    });
  }

  #warmUp(slug: string): void {
    this.step({ kind: "job_waiting", job: makeJob({ id: `warm_${slug}`, slug }) });
    this.step({ kind: "job_gone", jobId: `warm_${slug}` });
    this.step({ kind: "slot_freed", islandId: "isle-0", jobId: `warm_${slug}` });
    if (this.#load.busy) this.step({ kind: "island_up", island: counted(makeIsland({ id: "isle-0" })), busy: 1 });
  }
}

/** Returns the mean operations per dispatch over `rounds`. Each round assigns exactly one job. */
function operationsPerDispatch(rounds: number, dispatch: (round: number) => number): number {
  cost.comparisons = 0;
  cost.reads = 0;
  for (let round = 0; round < rounds; round += 1) expect(dispatch(round)).toBe(1);
  return (cost.comparisons + cost.reads) / rounds;
}

beforeEach(() => {
  cost.comparisons = 0;
  cost.reads = 0;
});

/** log2(100,000 * 10,000) is 3 times log2(100 * 10), which is the growth due to the heaps. */
const LOGARITHM = 3;

describe("the cost of a dispatch with 100,000 jobs and 10,000 Islands relative to 100 and 10", () => {
  it.each([
    // In both loads each account waits for every Cargo, so that all its entries are sorted again when it is served.
    ["many accounts", [25, 997]],
    ["one account", [1, 1]],
  ] as const)("grows at most logarithmically when a slot is freed (%s)", (title, [few, many]) => {
    const measure = (jobs: number, islands: number, accounts: number): number => {
      const fleet = new Fleet({ jobs, islands, busy: true, slugs: SLUGS, accounts });
      return operationsPerDispatch(50, (round) => fleet.free(`isle-${round % islands}`).length);
    };
    const [small, large] = [measure(100, 10, few), measure(100_000, 10_000, many)];
    report(`slot freed, ${title}`, small, large);
    expect(large / small).toBeLessThanOrEqual(LOGARITHM);
  });

  it("grows at most logarithmically when a job arrives at idle Islands", () => {
    const measure = (jobs: number, islands: number): number => {
      const fleet = new Fleet({ jobs, islands, busy: false, slugs: ["stuck"], accounts: 997 });
      // Each assigned job ends five jobs later, so that the small fleet does not run out of slots.
      const running: string[] = [];
      return operationsPerDispatch(50, (round) => {
        const ended = running.length === 5 ? running.shift() : undefined;
        if (ended !== undefined) fleet.free(ended);
        const effects = fleet.submit(SLUGS[round % SLUGS.length] ?? "");
        running.push(...effects.flatMap((effect) => (effect.kind === "assign" ? [effect.islandId] : [])));
        return effects.length;
      });
    };
    // A decision compares a constant number of Islands, so that fewer would hide its cost.
    const [small, large] = [measure(100, 32), measure(100_000, 10_000)];
    report("job comes", small, large);
    expect(large / small).toBeLessThanOrEqual(LOGARITHM);
  });

  it("grows at most logarithmically when a waiting job is removed", () => {
    const measure = (jobs: number): number => {
      const fleet = new Fleet({ jobs, islands: 10, busy: true, slugs: SLUGS, accounts: 7 });
      cost.comparisons = 0;
      for (let index = 1; index <= 50; index += 1)
        fleet.step({ kind: "job_gone", jobId: `job_${(index * 37) % jobs}` });
      return cost.comparisons / 50;
    };
    const [small, large] = [measure(100), measure(100_000)];
    report("job goes", small, large);
    expect(large).toBeLessThanOrEqual(LOGARITHM * small + 10);
  });
});

function report(title: string, small: number, large: number): void {
  process.stdout.write(`${title}: ${small.toFixed(1)} -> ${large.toFixed(1)} (x${(large / small).toFixed(2)})\n`);
}
