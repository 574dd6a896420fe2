import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Scheduler } from "../../../coordinator/scheduler/scheduler.ts";
import type { SchedulerEvent, WaitingJob } from "../../../coordinator/scheduler/events.ts";
import { makeCargo, makeIsland, makeJob, MINUTE_MS, SCHEDULER_RULES } from "./builders.ts";
import { soakRounds } from "../../support/soak-rounds.ts";

interface Load extends Partial<WaitingJob> {
  readonly runMs: number;
}

interface Start {
  readonly job: WaitingJob;
  readonly atMs: number;
}

/** One Island that runs each job for its given time. The clock jumps from event to event. */
class Fleet {
  readonly starts: Start[] = [];
  readonly waiting = new Map<string, WaitingJob>();
  nowMs = 0;
  readonly #scheduler: Scheduler;
  readonly #runMs = new Map<string, number>();
  readonly #ends: { atMs: number; jobId: string }[] = [];

  constructor(slots: number) {
    const cargo = makeCargo();
    this.#scheduler = new Scheduler(() => cargo, ...SCHEDULER_RULES);
    this.#step({ kind: "island_up", island: makeIsland({ slots }), busy: 0 });
  }

  submit({ runMs, ...override }: Load): WaitingJob {
    const job = makeJob({ id: `job_${this.#runMs.size}`, createdAtMs: this.nowMs, ...override });
    this.#runMs.set(job.id, runMs);
    this.waiting.set(job.id, job);
    this.#step({ kind: "job_waiting", job });
    return job;
  }

  /** Advances the clock to the next end of a job, at most to `untilMs`. Returns false if none ended. */
  advance(untilMs: number): boolean {
    const next = this.#ends.sort((a, b) => a.atMs - b.atMs)[0];
    if (next === undefined || next.atMs > untilMs) {
      this.nowMs = untilMs;
      return false;
    }
    this.#ends.shift();
    this.nowMs = next.atMs;
    this.#step({ kind: "slot_freed", islandId: "isle-1", jobId: next.jobId });
    return true;
  }

  startOf({ id }: WaitingJob): Start | undefined {
    return this.starts.find(({ job }) => job.id === id);
  }

  #step(event: SchedulerEvent): void {
    for (const effect of this.#scheduler.step(event, this.nowMs)) {
      if (effect.kind !== "assign") continue;
      const job = this.waiting.get(effect.jobId);
      if (job === undefined) throw new Error(`${effect.jobId} does not wait`);
      this.waiting.delete(job.id);
      this.starts.push({ job, atMs: this.nowMs });
      this.#ends.push({ atMs: this.nowMs + (this.#runMs.get(job.id) ?? 0), jobId: job.id });
    }
  }
}

const MAX_RUN_MS = 60_000;
const jobClass = fc.constantFrom("chat" as const, "batch" as const);
/** Jobs of other accounts, each with its delay after the previous job. */
const others = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 0, 0, 500, 20_000),
    accountId: fc.integer({ min: 1, max: 6 }).map((n) => `user_${n}`),
    jobClass,
    share: fc.constantFrom(100, 100, 1_000, 1),
    priority: fc.constantFrom(0, 50, 100),
    runMs: fc.integer({ min: 1, max: MAX_RUN_MS }),
  }),
  { minLength: 20, maxLength: 200, size: "max" },
);

describe("the fair share of an account with one job", () => {
  it("limits the wait to the account's share under any load of others", () => {
    fc.assert(
      fc.property(others, jobClass, fc.integer({ min: 1, max: 4 }), fc.nat(100), (load, ownClass, slots, percent) => {
        const fleet = new Fleet(slots);
        const arrival = Math.floor((load.length * percent) / 101);
        let own: WaitingJob | undefined;
        let rivals = new Set<string>();
        let startedBefore = 0;
        for (const [index, { afterMs, ...job }] of load.entries()) {
          const untilMs = fleet.nowMs + afterMs;
          while (fleet.advance(untilMs));
          if (index === arrival) {
            rivals = accountsOf(fleet, ownClass);
            startedBefore = fleet.starts.length;
            own = fleet.submit({ accountId: "user_own", jobClass: ownClass, priority: 0, runMs: 1_000 });
          }
          fleet.submit(job);
        }
        while (fleet.advance(Number.MAX_SAFE_INTEGER));
        const start = own === undefined ? undefined : fleet.startOf(own);
        if (own === undefined || start === undefined) throw new Error("The job was never started");
        const meanwhile = fleet.starts.slice(startedBefore, fleet.starts.indexOf(start)).map(({ job }) => job);
        // Within the class, at most one job of each account that already waited runs first, and none of accounts that
        // came later.
        const passing = meanwhile.filter((job) => job.jobClass === ownClass).map(({ accountId }) => accountId);
        expect(passing.filter((accountId) => !rivals.has(accountId))).toEqual([]);
        expect(passing.length).toBe(new Set(passing).size);
        // The other class takes the same slot time, and each slot may be busy with an earlier job.
        const limitMs = MAX_RUN_MS * (4 + (2 * (rivals.size + 1)) / slots);
        expect(start.atMs - own.createdAtMs).toBeLessThanOrEqual(limitMs);
      }),
      { numRuns: soakRounds(300) },
    );
  });

  it("starts the job after two of ten jobs of priority 100 that another account keeps waiting", () => {
    const fleet = new Fleet(2);
    const flood = (): WaitingJob => fleet.submit({ accountId: "user_flood", priority: 100, runMs: 10_000 });
    for (let count = 0; count < 10; count += 1) flood();
    const own = fleet.submit({ accountId: "user_own", jobClass: "chat", priority: 0, runMs: 1_000 });
    while (fleet.startOf(own) === undefined) {
      fleet.advance(Number.MAX_SAFE_INTEGER);
      flood();
    }
    expect(fleet.starts.map(({ job }) => job.accountId)).toEqual(["user_flood", "user_flood", "user_own"]);
  });
});

describe("the fair share of accounts and classes with constant backlogs", () => {
  /** Returns slot time by `group`, while each of `loads` always has three jobs waiting. */
  function slotTimes(slots: number, loads: readonly Load[], group: (job: WaitingJob) => string): Map<string, number> {
    const fleet = new Fleet(slots);
    const used = new Map<string, number>();
    const lengths = new Map(loads.map((load) => [`${load.accountId} ${load.jobClass}`, load.runMs]));
    while (fleet.nowMs < 60 * MINUTE_MS) {
      for (const load of loads) {
        const isOwn = (job: WaitingJob): boolean => job.accountId === load.accountId && job.jobClass === load.jobClass;
        for (let left = [...fleet.waiting.values()].filter(isOwn).length; left < 3; left += 1) fleet.submit(load);
      }
      fleet.advance(Number.MAX_SAFE_INTEGER);
    }
    for (const { job } of fleet.starts) {
      used.set(group(job), (used.get(group(job)) ?? 0) + (lengths.get(`${job.accountId} ${job.jobClass}`) ?? 0));
    }
    return used;
  }

  it("gives slot time in proportion to the shares, however long the jobs run", () => {
    const loads: Load[] = [
      { accountId: "user_a", share: 300, jobClass: "batch", runMs: 700 },
      { accountId: "user_b", share: 100, jobClass: "batch", runMs: 45_000 },
      { accountId: "user_c", share: 100, jobClass: "batch", priority: 100, runMs: 9_000 },
    ];
    const used = slotTimes(3, loads, ({ accountId }) => accountId);
    const total = [...used.values()].reduce((sum, ms) => sum + ms, 0);
    const parts = ["user_a", "user_b", "user_c"].map((id) => Math.round((20 * (used.get(id) ?? 0)) / total) / 20);
    expect(parts).toEqual([0.6, 0.2, 0.2]);
  });

  it("gives chats half of the slot time, however many accounts have other work", () => {
    const batch = Array.from({ length: 8 }, (_, index): Load => {
      return { accountId: `user_${index}`, jobClass: "batch", priority: 100, runMs: 20_000 };
    });
    const chat: Load = { accountId: "user_chat", jobClass: "chat", runMs: 3_000 };
    const used = slotTimes(2, [...batch, chat], (job) => job.jobClass);
    expect((used.get("chat") ?? 0) / (used.get("batch") ?? 1)).toBeCloseTo(1, 1);
  });
});

describe("the wait of a job of priority 0", () => {
  it("ends before the wait limit, even if its account always has jobs of priority 100 waiting", () => {
    const fleet = new Fleet(1);
    const urgent = (): WaitingJob => fleet.submit({ priority: 100, runMs: 30_000 });
    for (let count = 0; count < 3; count += 1) urgent();
    const low = fleet.submit({ priority: 0, runMs: 30_000 });
    while (fleet.startOf(low) === undefined && fleet.nowMs < 120 * MINUTE_MS) {
      fleet.advance(Number.MAX_SAFE_INTEGER);
      urgent();
    }
    // Waiting raises the job to priority 100 after 30 minutes, when three jobs with that priority already wait.
    expect((fleet.startOf(low)?.atMs ?? 0) / MINUTE_MS).toBe(31);
  });

  it("ends earlier in a Cargo with a short wait limit", () => {
    const fleet = new Fleet(1);
    const waitLimitMs = 2 * MINUTE_MS;
    const urgent = (): WaitingJob => fleet.submit({ priority: 100, runMs: 10_000, waitLimitMs });
    urgent();
    const low = fleet.submit({ priority: 0, runMs: 10_000, waitLimitMs });
    while (fleet.startOf(low) === undefined && fleet.nowMs < 120 * MINUTE_MS) {
      urgent();
      fleet.advance(Number.MAX_SAFE_INTEGER);
    }
    expect(fleet.startOf(low)?.atMs ?? 0).toBeLessThan(waitLimitMs);
  });
});

function accountsOf(fleet: Fleet, jobClass: WaitingJob["jobClass"]): Set<string> {
  const waiting = [...fleet.waiting.values()].filter((job) => job.jobClass === jobClass);
  return new Set(waiting.map(({ accountId }) => accountId));
}
