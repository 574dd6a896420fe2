import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openAttemptTokens } from "../../../../coordinator/dispatch/attempt-tokens.ts";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { makeHello } from "../../../support/network/frames.ts";
import { call, until } from "../../../support/http/http.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { IS_POSTGRES } from "../../../support/store/test-store.ts";

import {
  account,
  api,
  assigned,
  batchOf,
  coordinator,
  credits,
  ended,
  finished,
  inputs,
  join,
  setLimits,
  setUp,
  submit,
} from "./batch-world.ts";

setUp();

describe("the limit of unfinished jobs", () => {
  it("refuses a batch and holds no credits if it is 0", async () => {
    const before = await credits();
    await setLimits({ concurrentJobs: 0 });
    const { status, body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: inputs(2) });
    expect([status, body.error.code, body.error.limit]).toEqual([429, "rate_limited", "concurrent_jobs"]);
    expect([await credits(), (await api("GET", "/jobs")).body.meta.total]).toEqual([before, 0]);
  });

  it("is never exceeded by a batch, whose jobs take released slots in order", async () => {
    await using island = await join();
    const { id, jobs } = await submit(25);
    const order: string[] = [];
    let working = await assigned(island, 10);
    order.push(...working.map(({ jobId }) => jobId));
    while (order.length < 25) {
      expect(island.pending("assign")).toEqual([]);
      const { counts } = await batchOf(id);
      expect((counts.queued ?? 0) + (counts.running ?? 0)).toBeLessThanOrEqual(10);
      island.send(...working.slice(0, 5).flatMap((assign) => finished(assign)));
      const next = await assigned(island, 5);
      order.push(...next.map(({ jobId }) => jobId));
      working = [...working.slice(5), ...next];
    }
    island.send(...working.flatMap((assign) => finished(assign)));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 25, total: 25 } });
    // PostgreSQL writes the jobs of one round in any order, so they are assigned in any order.
    const inRounds = (ids: readonly string[]) =>
      IS_POSTGRES ? [0, 10, 15, 20].map((at, round) => ids.slice(at, round === 0 ? 10 : at + 5).toSorted()) : ids;
    expect(inRounds(order)).toEqual(inRounds(jobs.map((job) => job.id)));
    expect((await api("GET", `/jobs/${jobs[20]?.id}`)).body.data).toMatchObject({
      output: `done ${jobs[20]?.id}`,
      attempts: 1,
    });
  });

  it("holds back jobs of a batch, whose position in the queue is shown", async () => {
    await setLimits({ concurrentJobs: 2 });
    const { jobs } = await submit(5);
    const waiting = await until(
      async () => (await api("GET", `/jobs/${jobs[4]?.id}`)).body.data.waiting,
      (shown) => shown.position === 3,
      "two were admitted",
    );
    expect(waiting).toEqual({
      reason: "account_limit",
      position: 3,
      message: "the account is at its limit of unfinished jobs; 2 of its batch jobs start before this job",
      percent: null,
      phase: null,
    });
    expect((await api("GET", `/jobs/${jobs[1]?.id}`)).body.data.waiting.reason).toBe("no_island_online");
  });

  it("counts the admitted jobs of a batch, so that other jobs are refused", async () => {
    await setLimits({ concurrentJobs: 2 });
    await using island = await join();
    const { id } = await submit(3);
    const [first, second] = await assigned(island, 2);
    const single = { workload: "tiny-chat", input: { prompt: "Hi" } };
    expect((await api("POST", "/jobs", single)).body.error).toEqual({
      message:
        "You have 2 unfinished jobs, the limit of this account; wait for one or cancel one (GET /jobs?status=pending)",
      code: "rate_limited",
      limit: "concurrent_jobs",
      retry_after: 5,
    });
    island.send(...finished(first as Assign));
    const third = await island.next("assign");
    island.send(...finished(second as Assign), ...finished(third));
    await ended(id);
    expect((await api("POST", "/jobs", single)).status).toBe(201);
  });

  it("lets one account's batch wait while another's runs", async () => {
    await setLimits({ concurrentJobs: 1 });
    const { jobs } = await submit(2);
    const other = await coordinator.createAccount("other@example.com");
    await using island = await join();
    expect(await island.next("assign")).toMatchObject({ jobId: jobs[0]?.id });
    const request = { workload: "tiny-chat", inputs: inputs(1) };
    const { body } = await call(coordinator.url, other.key, "POST", "/jobs/batch", request);
    expect(await island.next("assign")).toMatchObject({ jobId: body.data.jobs[0].id });
    expect(island.pending("assign")).toEqual([]);
  });
});

describe("the queue of batch jobs", () => {
  it(
    ...unlessSeveral(
      "is limited for each account: a batch that would exceed 1,000 waiting jobs is 429",
      "each coordinator has its own limit",
    ),
    async () => {
      for (let batch = 0; batch < 10; batch += 1) await submit(100);
      const { status, body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: inputs(100) });
      expect([status, body.error.code, body.error.limit]).toEqual([429, "rate_limited", "concurrent_jobs"]);
      expect((await api("GET", "/jobs")).body.meta.total).toBe(1_000);
    },
  );
});

describe("a restart", () => {
  it("restores unfinished batches, whose jobs continue if an Island has them and otherwise wait for slots again", async () => {
    await setLimits({ concurrentJobs: 3 });
    const hostId = randomUUID();
    const island = await join(hostId);
    const { id } = await submit(8);
    const working = await assigned(island, 3);
    island.send(...working.map(({ jobId, attempt }) => ({ type: "started" as const, jobId, attempt })));
    await until(
      () => batchOf(id),
      ({ counts }) => counts.running === 3,
      "three run",
    );
    await coordinator.stop();
    await coordinator.start();
    await using again = await FakeIsland.dial(coordinator.url, account.islandToken);
    const held = working.map(({ jobId, attempt, claim }) => ({ jobId, attempt, claim, started: true }));
    again.send(makeHello({ hostId, held, slots: 100 }));
    await again.next("welcome");
    expect((await batchOf(id)).counts).toMatchObject({ running: 3, pending: 5 });
    expect(again.pending("assign")).toEqual([]);
    again.send(...working.flatMap((assign) => finished(assign)));
    for (let left = 5; left > 0; left -= 1) again.send(...finished(await again.next("assign")));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 8 } });
  });

  it("lets an Island continue a job whose assignment was not stored, even without a free slot", async () => {
    await setLimits({ concurrentJobs: 1 });
    expect((await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "First" } })).status).toBe(201);
    const { id, jobs } = await submit(2);
    await coordinator.stop();
    await coordinator.start();
    await using island = await FakeIsland.dial(coordinator.url, account.islandToken);
    const jobId = jobs[0]?.id ?? "";
    const hello = makeHello({ slots: 100 });
    const tokens = await coordinator.withStore(({ secrets }) => openAttemptTokens(secrets));
    const claim = tokens.issue(jobId, 1, hello.hostId);
    const held = { jobId, attempt: 1, claim, started: true };
    island.send({ ...hello, held: [held] });
    expect(await island.next("welcome")).toMatchObject({ held: [{ action: "continue" }] });
    await until(
      () => api("GET", `/jobs/${held.jobId}`),
      ({ body }) => body.data.status === "running" && body.data.waiting === null,
      "it runs",
    );
    island.send(...finished(held));
    await until(
      () => batchOf(id),
      ({ counts }) => counts.completed === 1,
      "it completed",
    );
    expect((await api("DELETE", `/jobs/batch/${id}`)).body.data.counts).toMatchObject({ completed: 1, cancelled: 1 });
  });
});
