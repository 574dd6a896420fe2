import { beforeEach, describe, expect, it } from "vitest";
import { openBatchGate, type BatchGate } from "../../../../coordinator/jobs/batches/batch-gate.ts";
import type { ActiveJob } from "../../../../coordinator/jobs/active-job.ts";
import { JobQuota } from "../../../../coordinator/quotas/job-quota.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { testEnv } from "../../../support/test-env.ts";

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
  const registry: Parameters<typeof openBatchGate>[1] = {
    get: (id) => jobs.get(id) as ActiveJob | undefined,
    admitParked(id) {
      const job = jobs.get(id);
      if (job === undefined) throw new Error(`${id} is unknown`);
      job.holdsQuota = true;
      quota.add(job.accountId);
      admitted.push(id);
    },
  };
  gate = openBatchGate(testEnv({}, { clock }), registry, quota, async () => limit, null);
});

type WaitingJob = { -readonly [Field in "id" | "accountId" | "holdsQuota"]: ActiveJob[Field] };
const makeJobs = (accountId: string, ...ids: string[]): WaitingJob[] => {
  const made = ids.map((id) => ({ id, accountId, holdsQuota: false }));
  for (const job of made) jobs.set(job.id, job);
  return made;
};
const enter = (made: readonly WaitingJob[]): void => gate.enter(made as ActiveJob[]);
/** Waits until the requests for limits have completed. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("BatchGate", () => {
  it("admits jobs into free quota slots in order of arrival, separately for each account", async () => {
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

  it("counts the quota slots of other jobs of the account", async () => {
    quota.add("a");
    enter(makeJobs("a", "a1", "a2"));
    await settle();
    expect(admitted).toEqual(["a1"]);
    expect(quota.isFull("a", 2)).toBe(true);
  });

  it("returns positions in the queue, and removes jobs that leave", async () => {
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

  it("skips a job that already got a slot because an Island was running it", async () => {
    limit = 0;
    const made = makeJobs("a", "a1", "a2") as [WaitingJob, WaitingJob];
    enter(made);
    await settle();
    made[0].holdsQuota = true;
    quota.add("a");
    limit = 2;
    clock.advance(60_000);
    await settle();
    expect(admitted).toEqual(["a2"]);
  });

  it("admits no job after it was closed", async () => {
    enter(makeJobs("a", "a1"));
    gate.close();
    await settle();
    expect(admitted).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("BatchGate with quota slots shared by several coordinators", () => {
  let free: number;
  let asked: number[];
  let fault: Error | null;
  const fatal: unknown[] = [];
  const registry: Parameters<typeof openBatchGate>[1] = {
    get: (id) => jobs.get(id) as ActiveJob | undefined,
    admitParked(id) {
      (jobs.get(id) as WaitingJob).holdsQuota = true;
      admitted.push(id);
    },
  };
  const quotaSlots: Parameters<typeof openBatchGate>[4] = {
    async take(_accountId, jobIds) {
      asked.push(jobIds.length);
      if (fault !== null) throw fault;
      const taken = jobIds.slice(0, free);
      free -= taken.length;
      return taken;
    },
  };
  const shared = (): BatchGate => {
    const env = testEnv({}, { clock, onFatal: (error) => fatal.push(error) });
    return openBatchGate(env, registry, quota, async () => limit, quotaSlots);
  };
  beforeEach(() => {
    [free, asked, fault] = [0, [], null];
    gate = shared();
  });

  it("admits the jobs that were granted a slot, and requests slots for the rest at once if all were granted", async () => {
    free = 900;
    enter(makeJobs("a", ...Array.from({ length: 1_000 }, (_, index) => `a${index}`)));
    await settle();
    expect(admitted).toHaveLength(900);
    expect(asked).toEqual([100, 900]);
    expect(gate.waitingOf("a")).toBe(100);
    clock.advance(1_000);
    await settle();
    expect(asked).toEqual([100, 900, 100]);
  });

  it("asks every second for slots that other coordinators release, and at once for its own", async () => {
    enter(makeJobs("a", "a1", "a2"));
    await settle();
    free = 1;
    quota.add("a");
    quota.leave("a");
    await settle();
    expect(admitted).toEqual(["a1"]);
    free = 1;
    clock.advance(1_000);
    await settle();
    expect(admitted).toEqual(["a1", "a2"]);
    clock.advance(1_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it("asks again after a result that may not include a released slot", async () => {
    enter(makeJobs("a", "a1"));
    quota.add("a");
    await Promise.resolve();
    quota.leave("a");
    free = 1;
    await settle();
    expect(admitted).toEqual(["a1"]);
  });

  it("does not admit a job that was cancelled during the request for its slot", async () => {
    free = 2;
    const [first, second] = makeJobs("a", "a1", "a2") as [WaitingJob, WaitingJob];
    enter([first, second]);
    gate.leave(first);
    await settle();
    expect(admitted).toEqual(["a2"]);
  });

  it("waits while storage is unavailable, and reports other errors", async () => {
    fault = new ServiceError("storage_unavailable", "away");
    enter(makeJobs("a", "a1"));
    await settle();
    [fault, free] = [null, 1];
    clock.advance(1_000);
    await settle();
    expect([admitted, fatal]).toEqual([["a1"], []]);
    fault = new Error("a fault of ours");
    enter(makeJobs("a", "a2"));
    await settle();
    expect(fatal).toEqual([fault]);
    gate.close();
  });
});
