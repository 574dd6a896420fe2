import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeBatch } from "../../store/contract/batch-store.cases.ts";
import { endUncharged, makeEnding, makeJob, runJob } from "../../store/contract/store-builders.ts";
import { Api } from "../api.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

describe("GET /account/ledger", () => {
  it("lists the changes of the credits, newest first, in pages", async () => {
    const job = makeJob(api.accountId);
    await runJob(api.store, job);
    await api.store.jobs.end(makeEnding(job, { event: "cancel", finishReason: null, chargeMicro: 250_000 }));
    const { status, body } = await api.call("GET", "/account/ledger");
    expect(status).toBe(200);
    const line = (kind: string, amount: number, held: number, balance: number) => ({
      id: expect.any(Number),
      kind,
      amount,
      held,
      balance,
      job_id: kind === "grant" ? null : job.id,
      batch_id: null,
      workload_slug: kind === "grant" ? null : job.slug,
      note: null,
      created_at: expect.stringMatching(/^2026-01-01T00:00:0\d\.000Z$/),
    });
    const lines = [
      line("release", 0.75, -0.75, 10_000.25),
      line("charge", 0, -0.25, 9_999.5),
      line("hold", -1, 1, 9_999.5),
      line("grant", 10_000.5, 0, 10_000.5),
    ];
    expect(body).toEqual({ data: lines, meta: { total: 4, limit: 20, offset: 0 } });
    expect((await api.call("GET", "/account/ledger?limit=2&offset=1")).body).toEqual({
      data: lines.slice(1, 3),
      meta: { total: 4, limit: 2, offset: 1 },
    });
    expect((await api.call("GET", "/account")).body.data.credits).toBe(10_000.25);
  });

  it("names the batch of a batch's single hold, and the job of each settlement", async () => {
    const batch = makeBatch(api.accountId, 2);
    await api.store.batches.submit(batch);
    const [first] = batch.jobs;
    await endUncharged(api.store, first?.id ?? "", { event: "cancel", attempt: 0, finishReason: null });
    const { body } = await api.call("GET", "/account/ledger?limit=2");
    expect(body.data).toMatchObject([
      { kind: "release", held: -1, job_id: first?.id, batch_id: null },
      { kind: "hold", held: 2, job_id: null, batch_id: batch.id, workload_slug: batch.slug },
    ]);
  });

  it("requires the scope read", async () => {
    expect((await api.call("GET", "/account/ledger", { key: api.writeKey })).status).toBe(403);
  });
});
