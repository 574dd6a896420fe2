import { beforeEach, describe, expect, it } from "vitest";
import { BatchGate } from "../../../coordinator/jobs/batch-gate.ts";
import type { ActiveJob } from "../../../coordinator/jobs/active-job.ts";
import { JobQuota } from "../../../coordinator/quotas/job-quota.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let clock: ManualClock;
let quota: JobQuota;
let limit: number;
let jobs: Map<string, WaitingJob>;
let admitted: string[];
let gate: BatchGate;

beforeEach(() => {
  clock = new ManualClock();
  quota = new JobQuota();
  limit = 2;
  jobs = new Map();
  admitted = [];
  gate = new BatchGate({
    quota,
    clock,
    limitOf: async () => limit,
    jobs: {
      get: (id) => jobs.get(id) as ActiveJob | undefined,
      admitParked(id) {
        const job = jobs.get(id);
        if (job === undefined) throw new Error(`${id} is unknown`);
        job.hasPlace = true;
        quota.add(job.accountId);
        admitted.push(id);
      },
    },
    onFatal: (error) => {
      throw error;
    },
  });
});

type WaitingJob = { -readonly [Field in "id" | "accountId" | "hasPlace"]: ActiveJob[Field] };
const makeJobs = (accountId: string, ...ids: string[]): WaitingJob[] => {
  const made = ids.map((id) => ({ id, accountId, hasPlace: false }));
  for (const job of made) jobs.set(job.id, job);
  return made;
};
const enter = (made: readonly WaitingJob[]): void => gate.enter(made as ActiveJob[]);
/** Lets the questions for limits be answered. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("BatchGate", () => {
  it("admits as many as there is room for, first come first served, each account by itself", async () => {
    enter(makeJobs("a", "a1", "a2", "a3"));
    enter(makeJobs("a", "a4"));
    enter(makeJobs("b", "b1"));
    await settle();
    expect(admitted).toEqual(["a1", "a2", "b1"]);
    quota.leave("a");
    quota.leave("a");
    await settle();
    expect(admitted).toEqual(["a1", "a2", "b1", "a3", "a4"]);
  });

  it("counts the places that other jobs of the account hold", async () => {
    quota.add("a");
    enter(makeJobs("a", "a1", "a2"));
    await settle();
    expect(admitted).toEqual(["a1"]);
    expect(quota.isFull("a", 2)).toBe(true);
  });

  it("tells the place in the line, and forgets who leaves", async () => {
    const [, second, third, fourth] = makeJobs("a", "a1", "a2", "a3", "a4") as [
      WaitingJob,
      WaitingJob,
      WaitingJob,
      WaitingJob,
    ];
    limit = 1;
    enter(makeJobs("a", "a1"));
    enter([second, third, fourth]);
    await settle();
    expect([second, third, fourth].map((job) => gate.positionOf(job))).toEqual([1, 2, 3]);
    gate.leave(second);
    gate.leave(second);
    expect([second, third, fourth].map((job) => gate.positionOf(job))).toEqual([null, 1, 2]);
    quota.leave("a");
    await settle();
    expect(admitted).toEqual(["a1", "a3"]);
  });

  it("notices within a minute that the operator raised the limit", async () => {
    limit = 0;
    enter(makeJobs("a", "a1"));
    await settle();
    expect(admitted).toEqual([]);
    limit = 1;
    clock.advance(60_000);
    await settle();
    expect(admitted).toEqual(["a1"]);
    clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("passes over a job that an Island turned out to have", async () => {
    limit = 0;
    const made = makeJobs("a", "a1", "a2") as [WaitingJob, WaitingJob];
    enter(made);
    await settle();
    made[0].hasPlace = true;
    quota.add("a");
    limit = 2;
    clock.advance(60_000);
    await settle();
    expect(admitted).toEqual(["a2"]);
  });

  it("admits nothing once closed", async () => {
    enter(makeJobs("a", "a1"));
    gate.close();
    await settle();
    expect(admitted).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});
