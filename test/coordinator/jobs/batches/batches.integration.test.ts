import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { endUncharged } from "../../store/contract/store-builders.ts";
import { beginFrames, finishedFrame } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call, collect, jobEvents, until } from "../../../support/http/http.ts";

import {
  HELD,
  account,
  api,
  assigned,
  batchOf,
  coordinator,
  credits,
  ended,
  failed,
  finished,
  inputs,
  join,
  setLimits,
  setUp,
  submit,
} from "./batch-world.ts";

setUp();

describe("POST /jobs/batch", () => {
  it("returns every job in order, and GET /jobs lists them by their batch", async () => {
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

  it("names all invalid inputs and stores no job", async () => {
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
    ["an input that is not an object", { inputs: ["text"] }, "inputs.0"],
    ["another fail_mode", { fail_mode: "slow" }, "fail_mode"],
    ["a priority above 100", { priority: 101 }, "priority"],
    ["a webhook URL that is invalid", { webhook_url: "not a url" }, "webhook_url"],
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

  it("stores 100 inputs of 1 MB together, in order", async () => {
    await setLimits({ concurrentJobs: 100 });
    const texts = Array.from({ length: 100 }, (_, index) => `${index} ${'[],"'.repeat(1_500)}`);
    const { jobs } = await submit(0, { inputs: texts.map((prompt) => ({ prompt, max_tokens: 1 })) });
    const stored = await Promise.all(jobs.map(async ({ id }) => (await api("GET", `/jobs/${id}`)).body.data));
    expect(stored.map(({ input }: { input: { prompt: string } }) => input.prompt)).toEqual(texts);
  });

  it("recognises a repeat of 1 MB by its Idempotency-Key, whatever its white space", async () => {
    const prompts = Array.from({ length: 50 }, (_, index) => `${index} ${"a".repeat(15_000)}`);
    const body = { workload: "tiny-chat", inputs: prompts.map((prompt) => ({ prompt, max_tokens: 1 })) };
    const spaced = { inputs: prompts.map((prompt) => ({ max_tokens: 1, prompt })), workload: "tiny-chat" };
    const send = (given: object) => api("POST", "/jobs/batch", given, { "idempotency-key": "long" });
    const first = await send(body);
    const second = await send(spaced);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.data.id).toBe(first.body.data.id);
    const other = { ...body, inputs: [...body.inputs.slice(1), { prompt: "other" }] };
    expect((await send(other)).body.error.code).toBe("idempotency_conflict");
  });

  it("returns 402 without enough credits for all jobs, and stores nothing", async () => {
    const poor = await coordinator.createAccount("poor@example.com", HELD * 2.5);
    const request = { workload: "tiny-chat", inputs: inputs(3), webhook_url: "https://example.com/" };
    const { status, body } = await call(coordinator.url, poor.key, "POST", "/jobs/batch", request);
    expect([status, body.error.code]).toEqual([402, "insufficient_credits"]);
    expect((await call(coordinator.url, poor.key, "GET", "/jobs")).body.meta.total).toBe(0);
    expect((await call(coordinator.url, poor.key, "GET", "/account")).body.data.credits).toBe(HELD * 2.5);
  });

  it("creates one batch for an Idempotency-Key, and refuses the key for another request", async () => {
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

  it("creates batches that are not visible to another account", async () => {
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

describe("GET /jobs/batch/{id}?include=output", () => {
  const outputsOf = async (id: string, offset = 0) =>
    (await api("GET", `/jobs/batch/${id}?include=output&output_offset=${offset}`)).body.data;

  it("includes the outputs of completed jobs and the errors of failed ones", async () => {
    await using island = await join();
    const { id } = await submit(3);
    const [first, second, third] = (await assigned(island, 3)) as [Assign, Assign, Assign];
    island.send(...finished(first), failed(second));
    await until(
      () => batchOf(id),
      ({ counts }) => counts["completed"] === 1 && counts["failed"] === 1,
      "two jobs ended",
    );
    const { jobs, next_output_offset: next } = await outputsOf(id);
    const none = { output: null, error: null };
    expect([jobs, next]).toEqual([
      [
        { ...none, id: first.jobId, status: "completed", output: `done ${first.jobId}` },
        { ...none, id: second.jobId, status: "failed", error: expect.objectContaining({ code: "invalid_input" }) },
        { ...none, id: third.jobId, status: expect.any(String) },
      ],
      null,
    ]);
    expect((await batchOf(id)).jobs[0]).toEqual({ id: first.jobId, status: "completed" });
  });

  it("includes as many outputs as a response may hold, but no large ones", async () => {
    const hello = { hostId: randomUUID(), slots: 100, runtimes: [{ type: "wasm" as const, version: "test" }] };
    await using island = await FakeIsland.join(coordinator.url, account.islandToken, hello);
    const count = 20;
    const batch = await submit(count, {
      workload: "base64",
      inputs: Array.from({ length: count }, () => ({ data: "" })),
    });
    const texts = new Map(batch.jobs.map((job, index) => [job.id, "x".repeat(index === 1 ? 70_000 : 64_000)]));
    // The first ten jobs have the account's quota slots.
    for (let nth = 0; nth < count; nth += 1) {
      const assign = await island.next("assign");
      const output = { data: texts.get(assign.jobId) ?? "" };
      island.send(...beginFrames(assign), finishedFrame(assign, 1, { output }));
    }
    await ended(batch.id);
    const page = await outputsOf(batch.id);
    expect(page.jobs[1]).toMatchObject({ status: "completed", output: null, output_omitted: true });
    const [from, all] = [page.next_output_offset as number, page.jobs.length];
    expect([from > 2, from < count, all]).toEqual([true, true, count]);
    expect(page.jobs[from]).toEqual({ id: batch.jobs[from]?.id, status: "completed" });
    const rest = await outputsOf(batch.id, from);
    expect(rest.next_output_offset).toBeNull();
    const read = [...page.jobs.slice(0, from), ...rest.jobs.slice(from)] as { id: string; output: unknown }[];
    expect(read.map(({ output }) => output)).toEqual(
      batch.jobs.map(({ id }, index) => (index === 1 ? null : { data: texts.get(id) })),
    );
    const wrong = await api("GET", `/jobs/batch/${batch.id}?include=input&output_offset=101`);
    expect(wrong.body.error.details.map(({ path }: { path: string }) => path)).toEqual(["include", "output_offset"]);
  });
});

describe("fail_fast", () => {
  it("cancels the rest at the first failure, including running jobs, and admits no more", async () => {
    const before = await credits();
    await using island = await join();
    const { id } = await submit(20, { fail_mode: "fail_fast" });
    const working = await assigned(island, 10);
    island.send(...finished(working[0] as Assign));
    await island.next("assign");
    island.send(failed(working[1] as Assign));
    const batch = await ended(id);
    expect(batch).toMatchObject({ status: "failed", counts: { completed: 1, failed: 1, cancelled: 18 } });
    for (const { jobId } of working.slice(2)) await island.next("cancel", (frame) => frame.jobId === jobId);
    expect(island.pending("assign")).toEqual([]);
    // 5 prompt tokens at 4 micro-credits and a generated one at 16. The account owns the Island, so it earns the charge
    // except for the network's part, a tenth.
    expect(await credits()).toBeCloseTo(before - 0.000_004, 9);
  });

  it("continues if the coordinator ended between the failure and the cancellations", async () => {
    const { id, jobs } = await submit(4, { fail_mode: "fail_fast" });
    await coordinator.stop();
    await coordinator.withStore((store) => endUncharged(store, jobs[2]?.id ?? "", { event: "expire", attempt: 0 }));
    await coordinator.start();
    expect(await ended(id)).toMatchObject({ status: "failed", counts: { timeout: 1, cancelled: 3 } });
  });

  it("cancels the rest at a start if a job has no attempts left and its Island is unknown", async () => {
    const { id, jobs } = await submit(4, { fail_mode: "fail_fast" });
    await coordinator.stop();
    coordinator.runSql(
      "UPDATE jobs SET state = 'queued', attempt = 99, island_id = 'gone' WHERE id = ?",
      jobs[2]?.id ?? null,
    );
    await coordinator.start();
    expect(await ended(id)).toMatchObject({ status: "failed", counts: { failed: 1, cancelled: 3 } });
  });

  it("is not the default, so that other jobs continue after a failure", async () => {
    await using island = await join();
    const { id } = await submit(3);
    const [first, ...rest] = await assigned(island, 3);
    island.send(failed(first as Assign), ...rest.flatMap((assign) => finished(assign)));
    expect(await ended(id)).toMatchObject({ status: "failed", counts: { completed: 2, failed: 1 } });
  });
});

describe("DELETE /jobs/batch/{id}", () => {
  it("cancels unfinished jobs, keeps ended ones, and is refused afterwards", async () => {
    await using island = await join();
    const { id, jobs } = await submit(15);
    const working = await assigned(island, 10);
    island.send(...finished(working[0] as Assign));
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

  it("leaves the other jobs of the batch if one job is deleted", async () => {
    await setLimits({ concurrentJobs: 1 });
    await using island = await join();
    const { id, jobs } = await submit(3);
    const first = await island.next("assign");
    expect((await api("DELETE", `/jobs/${jobs[1]?.id}`)).body.data.status).toBe("cancelled");
    island.send(...finished(first));
    const last = await island.next("assign");
    expect(last.jobId).toBe(jobs[2]?.id);
    island.send(...finished(last));
    expect(await ended(id)).toMatchObject({ status: "completed", counts: { completed: 2, cancelled: 1 } });
  });

  it("races with completion, but each job ends once, and the ledger balances", async () => {
    await setLimits({ concurrentJobs: 4 });
    await using island = await join();
    for (let round = 0; round < 40; round += 1) {
      const { id } = await submit(6);
      const working = await assigned(island, 4);
      const cancelled = api("DELETE", `/jobs/batch/${id}`);
      for (const assign of working.slice(round % 4)) island.send(...finished(assign));
      const { status } = await cancelled;
      expect([200, 422]).toContain(status);
      const { counts } = await ended(id);
      expect((counts.completed ?? 0) + (counts.cancelled ?? 0)).toBe(6);
      // The slots of cancelled jobs become free when the Island confirms the cancellation.
      for (const { jobId, attempt } of working) island.send({ type: "cancelled", jobId, attempt, seq: 1 });
      for (const { jobId, attempt } of island.pending("assign")) {
        await island.next("assign", (frame) => frame.jobId === jobId);
        island.send({ type: "cancelled", jobId, attempt, seq: 1 });
      }
    }
  });
});
