import { expect } from "vitest";
import { IllegalTransitionError } from "../../../../shared/job-state.ts";
import { type Check, endUncharged, ISLAND_ID, MADE_AT_MS, makeAccount, makeJob, runJob } from "./store-builders.ts";

/** Declares the behaviour that the coordinator relies on when it starts. */
export function describeJobRecovery(check: Check): void {
  check("jobs.unfinished() returns share, class and refusals", async (store) => {
    const accountId = await makeAccount(store);
    await store.accounts.setLimits(accountId, { share: 250 });
    const job = makeJob(accountId, { jobClass: "chat" });
    await store.jobs.submit(job);
    const move = { jobId: job.id, islandId: ISLAND_ID, atMs: MADE_AT_MS };
    const lost = { ...move, event: "lose", islandId: null } as const;
    await store.jobs.move({ ...move, event: "assign", attempt: 1 });
    await store.jobs.move({ ...lost, attempt: 1, refusals: 1 });
    await store.jobs.move({ ...move, event: "assign", attempt: 2 });
    await store.jobs.move({ ...lost, attempt: 2 });
    expect(await store.jobs.unfinished()).toMatchObject([{ jobClass: "chat", share: 250, attempt: 2, refusals: 1 }]);
  });

  check("jobs.unfinished() returns whether a client waits for the job on a connection", async (store) => {
    const accountId = await makeAccount(store);
    const isClientBound = true;
    const [ended, bound, free] = [
      makeJob(accountId, { isClientBound }),
      makeJob(accountId, { isClientBound }),
      makeJob(accountId),
    ];
    for (const job of [ended, bound, free]) await store.jobs.submit(job);
    await endUncharged(store, ended.id, { event: "cancel", attempt: 0 });
    const unfinished = await store.jobs.unfinished();
    expect(unfinished.map(({ id, isClientBound }) => ({ id, isClientBound }))).toEqual([
      { id: bound.id, isClientBound: true },
      { id: free.id, isClientBound: false },
    ]);
    expect((await store.jobs.get(bound.id))?.isClientBound).toBe(true);
  });

  check("jobs.move() of a lost job raises its wait deadline, and never lowers it", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const move = { jobId: job.id, attempt: 1, islandId: null, atMs: MADE_AT_MS };
    await store.jobs.move({ ...move, event: "lose", waitDeadlineMs: job.waitDeadlineMs + 1 });
    expect((await store.jobs.get(job.id))?.waitDeadlineMs).toBe(job.waitDeadlineMs + 1);
    await store.jobs.move({ ...move, event: "regain", islandId: ISLAND_ID });
    await store.jobs.move({ ...move, event: "lose", waitDeadlineMs: 0 });
    expect((await store.jobs.get(job.id))?.waitDeadlineMs).toBe(job.waitDeadlineMs + 1);
  });

  check("jobs.move() returns an attempt to its Island only if no other attempt has begun", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    const move = { jobId: job.id, attempt: 1, islandId: ISLAND_ID, atMs: MADE_AT_MS };
    await store.jobs.move({ ...move, event: "lose" });
    await store.jobs.move({ ...move, event: "regain" });
    expect(await store.jobs.get(job.id)).toMatchObject({ state: "queued", attempt: 1, islandId: ISLAND_ID });
    await store.jobs.move({ ...move, event: "lose" });
    await store.jobs.move({ ...move, event: "assign", attempt: 2 });
    await store.jobs.move({ ...move, event: "lose", attempt: 2 });
    await expect(store.jobs.move({ ...move, event: "regain" })).rejects.toBeInstanceOf(IllegalTransitionError);
  });
}
