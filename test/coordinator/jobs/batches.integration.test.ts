import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AttemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import type { Assign } from "../../../shared/protocol/from-coordinator.ts";
import { endUncharged } from "../store/contract/store-builders.ts";
import { FakeIsland } from "../../support/fake-island.ts";
import { makeHello } from "../../support/frames.ts";
import { call, collect, jobEvents, until } from "../../support/http.ts";
import { TestCoordinator } from "../../support/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open({ islandGraceS: 30 });
  account = await coordinator.createAccount("client@example.com");
  await setLimits({ requestsPerMinute: 100_000 });
});
afterEach(async () => {
  expect(coordinator.fatal).toEqual([]);
  const report = await coordinator.withStore((store) => store.ledger.verify());
  expect(report).toMatchObject({ sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] });
  await coordinator[Symbol.asyncDispose]();
});

const setLimits = (limits: { requestsPerMinute?: number; concurrentJobs?: number }): Promise<unknown> =>
  coordinator.withStore((_store, accounts) => accounts.setLimits(account.id, limits));
const join = (hostId: string = randomUUID(), slots = 100): Promise<FakeIsland> =>
  FakeIsland.join(coordinator.url, account.islandToken, { hostId, slots });
const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  call(coordinator.url, account.key, method, path, body, headers);
const inputs = (count: number): object[] => Array.from({ length: count }, (_, index) => ({ prompt: `Say ${index}` }));

interface Batch {
  readonly id: string;
  readonly status: string;
  readonly counts: Record<string, number>;
  readonly jobs: { id: string; status: string }[];
}

async function submit(count: number, more: object = {}): Promise<Batch> {
  const { status, body } = await api("POST", "/jobs/batch", {
    workload: "tiny-chat",
    inputs: inputs(count),
    ...more,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.data as Batch;
}

const batchOf = async (id: string): Promise<Batch> => (await api("GET", `/jobs/batch/${id}`)).body.data as Batch;
const ended = (id: string): Promise<Batch> =>
  until(
    () => batchOf(id),
    ({ status }) => status !== "pending" && status !== "running",
    "the batch ended",
  );
const credits = async (): Promise<number> => (await api("GET", "/account")).body.data.credits as number;

async function priceOf(slug = "tiny-chat"): Promise<number> {
  const { cargos } = (await api("GET", "/cargos")).body as { cargos: { slug: string; price_per_job: number }[] };
  return cargos.find((cargo) => cargo.slug === slug)?.price_per_job ?? Number.NaN;
}

function finished({ jobId, attempt }: Pick<Assign, "jobId" | "attempt">, seq = 1) {
  return {
    type: "finished" as const,
    jobId,
    attempt,
    seq,
    output: `done ${jobId}`,
    finishReason: "stop" as const,
    usage: { promptTokens: 5, completionTokens: 1 },
    timings: { loadMs: 1, firstOutputMs: 1, runMs: 10 },
  };
}

function failed({ jobId, attempt }: Assign) {
  return {
    type: "failed" as const,
    jobId,
    attempt,
    seq: 1,
    code: "invalid_input" as const,
    message: "no",
    retryable: false,
  };
}

async function assigned(island: FakeIsland, count: number): Promise<Assign[]> {
  const taken: Assign[] = [];
  while (taken.length < count) taken.push(await island.next("assign"));
  return taken;
}

describe("POST /jobs/batch", () => {
  it("answers every job in order, which GET /jobs lists by their batch", async () => {
    const batch = await submit(3, { priority: 7 });
    expect(batch).toMatchObject({
      id: expect.stringMatching(/^batch_[0-9A-Z]{26}$/) as string,
      workload_slug: "tiny-chat",
      status: "pending",
      fail_mode: "best_effort",
      priority: 7,
      counts: { total: 3, pending: 3, completed: 0 },
      completed_at: null,
      webhook: null,
    });
    const ids = batch.jobs.map(({ id }) => id);
    await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "other" } });
    const list = (await api("GET", `/jobs?batch=${batch.id}`)).body;
    expect(list.meta.total).toBe(3);
    expect(list.data.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
    expect(list.data[0].batch_id).toBe(batch.id);
    const detail = (await api("GET", `/jobs/${ids[1]}`)).body.data;
    expect(detail).toMatchObject({ batch_id: batch.id, input: { prompt: "Say 1" }, priority: 7 });
    expect(await batchOf(batch.id)).toEqual(batch);
  });

  it("names all inputs that are wrong and stores none", async () => {
    const bad = [{ prompt: "a" }, { prompt: "b", max_tokens: 0 }, { prompt: "c" }, { prompt: 5 }, {}];
    const { status, body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: bad });
    expect([status, body.error.code]).toEqual([422, "validation_failed"]);
    const paths = body.error.details.map(({ path }: { path: string }) => path) as string[];
    expect(paths).toContain("inputs.1.max_tokens");
    expect(paths).toContain("inputs.3.prompt");
    expect(paths.some((path) => path.startsWith("inputs.4"))).toBe(true);
    expect(paths.some((path) => /^inputs\.[02]/.test(path))).toBe(false);
    expect((await api("GET", "/jobs")).body.meta.total).toBe(0);
  });

  it.each<[what: string, more: object, path: string]>([
    ["no input", { inputs: [] }, "inputs"],
    ["101 inputs", { inputs: inputs(101) }, "inputs"],
    ["an input that is no object", { inputs: ["text"] }, "inputs.0"],
    ["another fail_mode", { fail_mode: "slow" }, "fail_mode"],
    ["a priority above 100", { priority: 101 }, "priority"],
    ["a webhook that is no URL", { webhook_url: "not a url" }, "webhook_url"],
    ["a webhook over http", { webhook_url: "http://example.com/hook" }, "webhook_url"],
    ["a webhook inside the network", { webhook_url: "https://192.168.0.1/hook" }, "webhook_url"],
    ["a webhook on loopback", { webhook_url: "https://[::1]/hook" }, "webhook_url"],
    ["a webhook with a password", { webhook_url: "https://user:secret@example.com/" }, "webhook_url"],
    ["a short secret", { webhook_url: "https://example.com/", webhook_secret: "whsec_c2hvcnQ=" }, "webhook_secret"],
    ["a secret without a URL", { webhook_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, "webhook_url"],
  ])("refuses %s", async (_what, more, path) => {
    const request = { workload: "tiny-chat", inputs: inputs(1), ...more };
    const { status, body } = await api("POST", "/jobs/batch", request);
    expect(status).toBe(422);
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it("without the credits for all of them is 402 and leaves nothing", async () => {
    const price = await priceOf();
    const poor = await coordinator.createAccount("poor@example.com", price * 2.5);
    const request = { workload: "tiny-chat", inputs: inputs(3), webhook_url: "https://example.com/" };
    const { status, body } = await call(coordinator.url, poor.key, "POST", "/jobs/batch", request);
    expect([status, body.error.code]).toEqual([402, "insufficient_credits"]);
    expect((await call(coordinator.url, poor.key, "GET", "/jobs")).body.meta.total).toBe(0);
    expect((await call(coordinator.url, poor.key, "GET", "/account")).body.data.credits).toBe(price * 2.5);
  });

  it("with an Idempotency-Key is one batch, and the key cannot be used for another request", async () => {
    const key = { "idempotency-key": "k1" };
    const request = { workload: "tiny-chat", inputs: inputs(3) };
    const answers = await Promise.all([1, 2, 3].map(() => api("POST", "/jobs/batch", request, key)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect((await api("GET", "/jobs")).body.meta.total).toBe(3);
    const others = [
      await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: inputs(2) }, key),
      await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } }, key),
    ];
    expect(others.map(({ body }) => body.error.code)).toEqual(["idempotency_conflict", "idempotency_conflict"]);
  });

  it("makes batches that do not exist for another account", async () => {
    const { id, jobs } = await submit(2);
    const other = await coordinator.createAccount("other@example.com");
    for (const method of ["GET", "DELETE"]) {
      const { status, body } = await call(coordinator.url, other.key, method, `/jobs/batch/${id}`);
      expect([status, body.error.code]).toEqual([404, "not_found"]);
    }
    const list = await call(coordinator.url, other.key, "GET", `/jobs?batch=${id}`);
    expect(list.body).toMatchObject({ data: [], meta: { total: 0 } });
    expect((await batchOf(id)).jobs).toEqual(jobs.map((job) => ({ ...job, status: "pending" })));
  });
});

describe("The limit of unfinished jobs", () => {
  it("of 0 refuses a batch, and holds nothing for it", async () => {
    const before = await credits();
    await setLimits({ concurrentJobs: 0 });
    const { status, body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: inputs(2) });
    expect([status, body.error.code, body.error.limit]).toEqual([429, "rate_limited", "concurrent_jobs"]);
    expect([await credits(), (await api("GET", "/jobs")).body.meta.total]).toEqual([before, 0]);
  });

  it("is never passed by a batch, whose jobs take the places that become free in their order", async () => {
    await using island = await join();
    const { id, jobs } = await submit(25);
    const order: string[] = [];
    let working = await assigned(island, 10);
    order.push(...working.map(({ jobId }) => jobId));
    while (order.length < 25) {
      expect(island.pending("assign")).toEqual([]);
      const { counts } = await batchOf(id);
      expect((counts.queued ?? 0) + (counts.running ?? 0)).toBeLessThanOrEqual(10);
      island.send(...working.slice(0, 5).map((assign) => finished(assign)));
      const next = await assigned(island, 5);
      order.push(...next.map(({ jobId }) => jobId));
      working = [...working.slice(5), ...next];
    }
    island.send(...working.map((assign) => finished(assign)));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 25, total: 25 } });
    expect(order).toEqual(jobs.map((job) => job.id));
    expect((await api("GET", `/jobs/${jobs[20]?.id}`)).body.data).toMatchObject({
      output: `done ${jobs[20]?.id}`,
      attempts: 1,
    });
  });

  it("is what a job of a batch waits for, and its place in the line is told", async () => {
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
      message: "the account has as many unfinished jobs as it may have; 2 of its batch jobs go before this one",
    });
    expect((await api("GET", `/jobs/${jobs[1]?.id}`)).body.data.waiting.reason).toBe("no_island_online");
  });

  it("counts the jobs of a batch that were admitted, so that no other job is taken", async () => {
    await setLimits({ concurrentJobs: 2 });
    await using island = await join();
    const { id } = await submit(3);
    const [first, second] = await assigned(island, 2);
    const single = { workload: "tiny-chat", input: { prompt: "Hi" } };
    expect((await api("POST", "/jobs", single)).body.error).toMatchObject({
      code: "rate_limited",
      limit: "concurrent_jobs",
    });
    island.send(finished(first as Assign));
    const third = await island.next("assign");
    island.send(finished(second as Assign), finished(third));
    await ended(id);
    expect((await api("POST", "/jobs", single)).status).toBe(201);
  });

  it("leaves one account's batch to wait while another's runs", async () => {
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

describe("fail_fast", () => {
  it("cancels the rest at the first failure, also what runs, and admits no more", async () => {
    const before = await credits();
    await using island = await join();
    const { id } = await submit(20, { fail_mode: "fail_fast" });
    const working = await assigned(island, 10);
    island.send(finished(working[0] as Assign));
    await island.next("assign");
    const price = await priceOf();
    island.send(failed(working[1] as Assign));
    const batch = await ended(id);
    expect(batch).toMatchObject({ status: "failed", counts: { completed: 1, failed: 1, cancelled: 18 } });
    for (const { jobId } of working.slice(2)) await island.next("cancel", (frame) => frame.jobId === jobId);
    expect(island.pending("assign")).toEqual([]);
    // The Island belongs to the account too: of what it pays it earns all but the network's part.
    expect(await credits()).toBeCloseTo(before - price * 0.1, 6);
  });

  it("goes on where the coordinator ended between the failure and the cancellations", async () => {
    const { id, jobs } = await submit(4, { fail_mode: "fail_fast" });
    await coordinator.stop();
    await coordinator.withStore((store) => endUncharged(store, jobs[2]?.id ?? "", { event: "expire", attempt: 0 }));
    await coordinator.start();
    expect(await ended(id)).toMatchObject({ status: "failed", counts: { timeout: 1, cancelled: 3 } });
  });

  it("is not the default: a failure leaves the others", async () => {
    await using island = await join();
    const { id } = await submit(3);
    const [first, ...rest] = await assigned(island, 3);
    island.send(failed(first as Assign), ...rest.map((assign) => finished(assign)));
    expect(await ended(id)).toMatchObject({ status: "failed", counts: { completed: 2, failed: 1 } });
  });
});

describe("DELETE /jobs/batch/{id}", () => {
  it("cancels what has not ended, leaves what has, and is refused after", async () => {
    await using island = await join();
    const { id, jobs } = await submit(15);
    const working = await assigned(island, 10);
    island.send(finished(working[0] as Assign));
    await island.next("assign");
    const events = collect(jobEvents(coordinator.url, account.key, jobs[14]?.id ?? ""));
    const { status, body } = await api("DELETE", `/jobs/batch/${id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id, status: "cancelled", counts: { completed: 1, cancelled: 14 } });
    expect(body.data.completed_at).not.toBeNull();
    expect((await events).at(-1)).toMatchObject({ event: "error", data: { code: "cancelled" } });
    for (const { jobId } of working.slice(1)) await island.next("cancel", (frame) => frame.jobId === jobId);
    expect(island.pending("assign")).toEqual([]);
    const again = await api("DELETE", `/jobs/batch/${id}`);
    expect([again.status, again.body.error.code]).toEqual([422, "job_not_cancellable"]);
  });

  it("of one job leaves the others of its batch", async () => {
    await setLimits({ concurrentJobs: 1 });
    await using island = await join();
    const { id, jobs } = await submit(3);
    const first = await island.next("assign");
    expect((await api("DELETE", `/jobs/${jobs[1]?.id}`)).body.data.status).toBe("cancelled");
    island.send(finished(first));
    const last = await island.next("assign");
    expect(last.jobId).toBe(jobs[2]?.id);
    island.send(finished(last));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 2, cancelled: 1 } });
  });

  it("against completion: each job ends once, and the books are right", async () => {
    await setLimits({ concurrentJobs: 4 });
    await using island = await join();
    for (let round = 0; round < 40; round += 1) {
      const { id } = await submit(6);
      const working = await assigned(island, 4);
      const cancelled = api("DELETE", `/jobs/batch/${id}`);
      for (const assign of working.slice(round % 4)) island.send(finished(assign));
      const { status } = await cancelled;
      expect([200, 422]).toContain(status);
      const { counts } = await ended(id);
      expect((counts.completed ?? 0) + (counts.cancelled ?? 0)).toBe(6);
      // The slots of what was cancelled come back with the Island's word.
      for (const { jobId, attempt } of working) island.send({ type: "cancelled", jobId, attempt, seq: 1 });
      for (const { jobId, attempt } of island.pending("assign")) {
        await island.next("assign", (frame) => frame.jobId === jobId);
        island.send({ type: "cancelled", jobId, attempt, seq: 1 });
      }
    }
  });
});

describe("What waits", () => {
  it("is bounded for each account: the batch that would pass 1,000 waiting jobs is 429", async () => {
    for (let batch = 0; batch < 10; batch += 1) await submit(100);
    const { status, body } = await api("POST", "/jobs/batch", { workload: "tiny-chat", inputs: inputs(100) });
    expect([status, body.error.code, body.error.limit]).toEqual([429, "rate_limited", "concurrent_jobs"]);
    expect((await api("GET", "/jobs")).body.meta.total).toBe(1_000);
  });
});

describe("A restart", () => {
  it("takes unfinished batches up: what an Island has goes on, the rest waits for room again", async () => {
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
    again.send(...working.map((assign) => finished(assign)));
    for (let left = 5; left > 0; left -= 1) again.send(finished(await again.next("assign")));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 8 } });
  });

  it("lets an Island go on with a job whose assignment was not stored, although there is no room", async () => {
    await setLimits({ concurrentJobs: 1 });
    expect((await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "First" } })).status).toBe(201);
    const { id, jobs } = await submit(2);
    await coordinator.stop();
    await coordinator.start();
    await using island = await FakeIsland.dial(coordinator.url, account.islandToken);
    const jobId = jobs[0]?.id ?? "";
    const hello = makeHello({ slots: 100 });
    const claim = (await AttemptProofs.open(coordinator.directory)).issue(jobId, 1, hello.hostId);
    const held = { jobId, attempt: 1, claim, started: true };
    island.send({ ...hello, held: [held] });
    expect(await island.next("welcome")).toMatchObject({ held: [{ action: "continue" }] });
    await until(
      () => api("GET", `/jobs/${held.jobId}`),
      ({ body }) => body.data.status === "running" && body.data.waiting === null,
      "it runs",
    );
    island.send(finished(held));
    await until(
      () => batchOf(id),
      ({ counts }) => counts.completed === 1,
      "it completed",
    );
    expect((await api("DELETE", `/jobs/batch/${id}`)).body.data.counts).toMatchObject({ completed: 1, cancelled: 1 });
  });
});
