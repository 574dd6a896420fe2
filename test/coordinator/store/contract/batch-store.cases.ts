import { expect } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { holdPostings } from "../../../../coordinator/credits/postings.ts";
import type { NewBatch } from "../../../../coordinator/store/jobs/job-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import type { NewWebhook } from "../../../../coordinator/store/jobs/webhooks.ts";
import {
  balanceOf,
  type Check,
  endUncharged,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
} from "./store-builders.ts";

export function makeWebhook(override: Partial<NewWebhook> = {}): NewWebhook {
  return {
    id: newId("msg", MADE_AT_MS),
    url: "https://receiver.example/hook",
    secret: "whsec_c2VjcmV0",
    isSecretGenerated: false,
    ...override,
  };
}

/** Creates a batch of `count` jobs of 1 credit. */
export function makeBatch(accountId: string, count: number, override: Partial<NewBatch> = {}): NewBatch {
  return {
    id: newId("batch", MADE_AT_MS),
    accountId,
    slug: "tiny-chat",
    workloadId: 1,
    priority: 50,
    failMode: "best_effort",
    createdAtMs: MADE_AT_MS,
    jobs: Array.from({ length: count }, (_, index) => makeJob(accountId, { input: { prompt: `Say ${index}` } })),
    idempotency: null,
    webhook: null,
    slotLimit: null,
    postings: holdPostings(
      accountId,
      Array.from({ length: count }, () => 1_000_000),
    ),
    ...override,
  };
}

async function end(store: Store, jobId: string, event: "cancel" | "expire" = "cancel"): Promise<readonly string[]> {
  return (await endUncharged(store, jobId, { event, attempt: 0 })).dueWebhookIds;
}

export function describeBatches(check: Check): void {
  check("batches.submit() stores every job with its input, in order, and holds all prices", async (store) => {
    const accountId = await makeAccount(store);
    const batch = makeBatch(accountId, 4);
    const { created, batch: stored } = await store.batches.submit(batch);
    expect(created).toBe(true);
    expect(stored).toEqual(await store.batches.get(batch.id));
    expect(stored.jobs).toEqual(batch.jobs.map(({ id }) => ({ id, state: "pending" })));
    expect(stored).toMatchObject({ id: batch.id, accountId, failMode: "best_effort", completedAtMs: null });
    expect(await balanceOf(store, accountId)).toBe(6_000_000);
    expect(await store.jobs.get(batch.jobs[3]?.id ?? "")).toMatchObject({
      batchId: batch.id,
      input: { prompt: "Say 3" },
      state: "pending",
    });
    expect(await store.ledger.verify()).toMatchObject({ sumMicro: 0, wrongBalances: [], wrongHolds: [] });
  });

  check(
    "batches.submit() without credits for all jobs rejects with insufficient_credits and stores nothing",
    async (store) => {
      const accountId = await makeAccount(store, { grantMicro: 3_999_999 });
      const batch = makeBatch(accountId, 4, { webhook: makeWebhook() });
      await expect(store.batches.submit(batch)).rejects.toMatchObject({ code: "insufficient_credits" });
      expect(await store.batches.get(batch.id)).toBeUndefined();
      expect(await store.jobs.get(batch.jobs[0]?.id ?? "")).toBeUndefined();
      expect(await store.webhooks.get(batch.webhook?.id ?? "")).toBeUndefined();
      expect(await balanceOf(store, accountId)).toBe(3_999_999);
    },
  );

  check("batches.submit() with a used Idempotency-Key and the same body returns the first batch", async (store) => {
    const accountId = await makeAccount(store);
    const idempotency = { key: "k", bodyHash: "b" };
    const [first, second] = [makeBatch(accountId, 2, { idempotency }), makeBatch(accountId, 2, { idempotency })];
    const outcomes = await Promise.all([store.batches.submit(first), store.batches.submit(second)]);
    expect(outcomes.map(({ created, batch }) => [created, batch.id])).toEqual([
      [true, first.id],
      [false, first.id],
    ]);
    expect(await balanceOf(store, accountId)).toBe(8_000_000);
  });

  check("batches.findRepeat() returns what submit() would return, even for a submission in progress", async (store) => {
    const accountId = await makeAccount(store);
    const idempotency = { key: "k", bodyHash: "b" };
    const batch = makeBatch(accountId, 2, { idempotency });
    expect(await store.batches.findRepeat(makeBatch(accountId, 2, { idempotency }))).toBeUndefined();
    const submitted = store.batches.submit(batch);
    expect((await store.batches.findRepeat(makeBatch(accountId, 2, { idempotency })))?.id).toBe(batch.id);
    await submitted;
    expect(await store.batches.findRepeat(makeBatch(accountId, 2))).toBeUndefined();
    const other = makeBatch(accountId, 2, { idempotency: { key: "k", bodyHash: "c" } });
    await expect(store.batches.findRepeat(other)).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  check("an Idempotency-Key covers jobs and batches, so that a request of the other kind conflicts", async (store) => {
    const accountId = await makeAccount(store);
    await store.batches.submit(makeBatch(accountId, 1, { idempotency: { key: "a", bodyHash: "batch" } }));
    await store.jobs.submit(makeJob(accountId, { idempotency: { key: "b", bodyHash: "job" } }));
    const job = store.jobs.submit(makeJob(accountId, { idempotency: { key: "a", bodyHash: "job" } }));
    await expect(job).rejects.toMatchObject({ code: "idempotency_conflict" });
    const batch = store.batches.submit(makeBatch(accountId, 1, { idempotency: { key: "b", bodyHash: "batch" } }));
    await expect(batch).rejects.toMatchObject({ code: "idempotency_conflict" });
  });

  check("jobs.end() completes a batch with its last job", async (store) => {
    const batch = makeBatch(await makeAccount(store), 2);
    await store.batches.submit(batch);
    await end(store, batch.jobs[0]?.id ?? "");
    expect(await store.batches.get(batch.id)).toMatchObject({ completedAtMs: null });
    expect(await store.batches.unfinished()).toEqual([
      { id: batch.id, failMode: "best_effort", isCancelled: false, hasFailed: false },
    ]);
    await end(store, batch.jobs[1]?.id ?? "", "expire");
    expect(await store.batches.get(batch.id)).toMatchObject({
      completedAtMs: MADE_AT_MS + 5_000,
      jobs: [{ state: "cancelled" }, { state: "timeout" }],
    });
    expect(await store.batches.unfinished()).toEqual([]);
  });

  check("batches.unfinished() returns which batches have failed jobs and which were cancelled", async (store) => {
    const batch = makeBatch(await makeAccount(store), 2, { failMode: "fail_fast" });
    await store.batches.submit(batch);
    await end(store, batch.jobs[0]?.id ?? "", "expire");
    await store.batches.cancel(batch.id, MADE_AT_MS + 1);
    expect(await store.batches.unfinished()).toEqual([
      { id: batch.id, failMode: "fail_fast", isCancelled: true, hasFailed: true },
    ]);
    expect(await store.batches.get(batch.id)).toMatchObject({ cancelledAtMs: MADE_AT_MS + 1 });
  });

  check("batches.cancel() does not change a finished batch", async (store) => {
    const batch = makeBatch(await makeAccount(store), 1);
    await store.batches.submit(batch);
    await end(store, batch.jobs[0]?.id ?? "");
    await store.batches.cancel(batch.id, MADE_AT_MS);
    expect(await store.batches.get(batch.id)).toMatchObject({ cancelledAtMs: null });
  });

  check("jobs.list() filters by batch", async (store) => {
    const accountId = await makeAccount(store);
    const batch = makeBatch(accountId, 2);
    await store.batches.submit(batch);
    await store.jobs.submit(makeJob(accountId));
    const page = { limit: 100, offset: 0 };
    const { jobs, total } = await store.jobs.list(accountId, page, { batchId: batch.id, slug: "tiny-chat" });
    expect(total).toBe(2);
    expect(jobs.map(({ id, batchId }) => [id, batchId])).toEqual(batch.jobs.map(({ id }) => [id, batch.id]).reverse());
  });
}

export function describeWebhooks(check: Check): void {
  check("jobs.end() makes the job's webhook due", async (store) => {
    const accountId = await makeAccount(store);
    const webhook = makeWebhook({ isSecretGenerated: true });
    const job = makeJob(accountId, { webhook });
    await runJob(store, job);
    expect(await store.webhooks.get(webhook.id)).toEqual({
      ...webhook,
      accountId,
      subjectKind: "job",
      subjectId: job.id,
      state: "waiting",
      endedAtMs: null,
      attempts: [],
    });
    expect(await store.webhooks.pending()).toEqual([]);
    expect(await store.jobs.end(makeEnding(job))).toEqual({ dueWebhookIds: [webhook.id] });
    expect(await store.webhooks.get(webhook.id)).toMatchObject({ state: "pending", endedAtMs: MADE_AT_MS + 5_000 });
    expect(await store.webhooks.pending()).toEqual([{ id: webhook.id, accountId, dueAtMs: MADE_AT_MS + 5_000 }]);
    expect(await store.jobs.get(job.id)).toMatchObject({ webhookId: webhook.id });
  });

  check("jobs.end() of the last job makes the batch's webhook due", async (store) => {
    const webhook = makeWebhook();
    const batch = makeBatch(await makeAccount(store), 2, { webhook });
    await store.batches.submit(batch);
    expect(await end(store, batch.jobs[1]?.id ?? "")).toEqual([]);
    expect(await end(store, batch.jobs[0]?.id ?? "")).toEqual([webhook.id]);
    expect(await store.webhooks.get(webhook.id)).toMatchObject({
      state: "pending",
      subjectKind: "batch",
      subjectId: batch.id,
    });
  });

  check("webhooks.record() keeps attempts in order and ends with the last one", async (store) => {
    const accountId = await makeAccount(store);
    const webhook = makeWebhook();
    const job = makeJob(accountId, { webhook });
    await runJob(store, job);
    const tried = (atMs: number, status: number | null) => ({
      atMs,
      status,
      error: status === null ? "timeout" : null,
    });
    // No delivery is attempted before the end.
    await store.webhooks.record(webhook.id, tried(0, 200), { state: "delivered" });
    await store.jobs.end(makeEnding(job));
    await store.webhooks.record(webhook.id, tried(1, null), { state: "pending", dueAtMs: MADE_AT_MS + 9_000 });
    expect(await store.webhooks.pending()).toEqual([{ id: webhook.id, accountId, dueAtMs: MADE_AT_MS + 9_000 }]);
    await store.webhooks.record(webhook.id, tried(2, 204), { state: "delivered" });
    await store.webhooks.record(webhook.id, tried(3, 500), { state: "failed" });
    expect(await store.webhooks.get(webhook.id)).toMatchObject({
      state: "delivered",
      attempts: [tried(1, null), tried(2, 204)],
    });
    expect(await store.webhooks.pending()).toEqual([]);
  });
}
