import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { JobFailedError, TimeoutError, type JobSummary, type Page } from "../../sdk/typescript/src/index.ts";
import { Pages } from "../../sdk/typescript/src/pages.ts";
import { collect } from "../support/http/http.ts";
import { CARGO, failed, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.proxy.script());

describe("jobs.wait()", () => {
  it("returns the completed job", async () => {
    const assign = await fixture.begin();
    const waited = fixture.client().jobs.wait(assign.jobId);
    await fixture.proxy.sees(2);
    fixture.island.send(output(assign, 1, token("a"), token("b")), finished(assign, 2));
    expect(await waited).toMatchObject({ id: assign.jobId, status: "completed", output: "ab" });
  });

  it("continues after lost connections", async () => {
    const id = await fixture.completed(token("a"));
    fixture.proxy.script({ kind: "refuse" }, { kind: "swallow" });
    expect((await fixture.client().jobs.wait(id)).output).toBe("a");
    expect(fixture.proxy.seen).toHaveLength(3);
  });

  it("throws JobFailedError with the job if it failed or was cancelled", async () => {
    const failing = await fixture.begin();
    fixture.island.send(failed(failing, 1));
    const waited = fixture.client().jobs.wait(failing.jobId);
    await expect(waited).rejects.toBeInstanceOf(JobFailedError);
    await expect(waited).rejects.toMatchObject({
      code: "job_failed",
      jobError: "model_invalid",
      retryable: false,
      job: { id: failing.jobId, status: "failed" },
    });
    const cancelled = await fixture.begin();
    await fixture.client().jobs.cancel(cancelled.jobId);
    await expect(fixture.client().jobs.wait(cancelled.jobId)).rejects.toMatchObject({ job: { status: "cancelled" } });
  });

  it("ends after timeoutMs and on its signal, while the job continues", async () => {
    const assign = await fixture.begin();
    const { jobs } = fixture.client();
    await expect(jobs.wait(assign.jobId, { timeoutMs: 40 })).rejects.toBeInstanceOf(TimeoutError);
    const reason = new Error("enough");
    const leaving = new AbortController();
    fixture.proxy.script();
    const waited = jobs.wait(assign.jobId, { signal: leaving.signal });
    await fixture.proxy.sees(1);
    leaving.abort(reason);
    await expect(waited).rejects.toBe(reason);
    expect((await jobs.get(assign.jobId)).status).toMatch(/^(queued|running)$/);
    fixture.island.send(finished(assign, 1));
  });
});

describe("jobs.output()", () => {
  it("returns the output so far, and all output at the end", async () => {
    const assign = await fixture.begin();
    fixture.island.send(output(assign, 1, token("Hel")));
    await fixture.island.next("ack", ({ jobId }) => jobId === assign.jobId);
    const { jobs } = fixture.client();
    expect(await jobs.output(assign.jobId)).toMatchObject({ output: "Hel", is_complete: false, status: "running" });
    fixture.island.send(output(assign, 2, token("lo")), finished(assign, 3));
    await jobs.wait(assign.jobId);
    expect(await jobs.output(assign.jobId)).toMatchObject({ output: "Hello", is_complete: true });
  });
});

describe("jobs.run()", () => {
  it("submits and waits", async () => {
    const ran = fixture.client().jobs.run({ workload: CARGO, input: { prompt: "Hi" } });
    const assign = await fixture.taken();
    fixture.island.send(output(assign, 1, token("done")), finished(assign, 2));
    expect((await ran).output).toBe("done");
  });
});

describe("jobs.cancel()", () => {
  it("cancels a job, and succeeds again for a cancelled job", async () => {
    const { jobId } = await fixture.begin();
    const { jobs } = fixture.client();
    expect(await jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
    expect(await jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
  });

  it("succeeds although its first response was lost", async () => {
    const { jobId } = await fixture.begin();
    fixture.proxy.script({ kind: "swallow" });
    expect(await fixture.client().jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
  });

  it("throws for a completed job, whose output stays", async () => {
    const id = await fixture.completed(token("a"));
    const { jobs } = fixture.client();
    await expect(jobs.cancel(id)).rejects.toMatchObject({ code: "job_not_cancellable", status: 422 });
    expect(await jobs.get(id)).toMatchObject({ status: "completed", output: "a" });
  });
});

describe("jobs.deleteContent()", () => {
  it("removes input and output of an ended job, even if its first response is lost", async () => {
    const id = await fixture.completed(token("a"));
    fixture.proxy.script({ kind: "swallow" });
    const { jobs } = fixture.client();
    await jobs.deleteContent(id);
    expect(await jobs.get(id)).toMatchObject({ status: "completed", input: {}, output: null });
    await expect(jobs.output(id)).rejects.toMatchObject({ status: 410, code: "content_removed" });
  });

  it("throws for a job that has not ended, which goes on", async () => {
    const { jobId } = await fixture.begin();
    const { jobs } = fixture.client();
    await expect(jobs.deleteContent(jobId)).rejects.toMatchObject({ code: "validation_failed", status: 422 });
    expect(await jobs.get(jobId)).toMatchObject({ status: "running", input: { prompt: "Hi" } });
  });
});

describe("jobs.list()", () => {
  it("iterates over all jobs once, newest first, even if jobs are added during it", async () => {
    await using own = await SdkFixture.open();
    const { jobs } = own.client();
    const submit = async () => (await jobs.submit({ workload: CARGO, input: { prompt: "Hi" } })).id;
    const ids: string[] = [];
    for (let count = 0; count < 7; count += 1) ids.unshift(await submit());
    own.proxy.script();
    const listed = await collect(jobs.list({ pageSize: 3 }));
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(own.proxy.seen.map(({ path }) => path)).toEqual([
      "/api/v1/jobs?limit=3&offset=0",
      "/api/v1/jobs?limit=3&offset=3",
      "/api/v1/jobs?limit=3&offset=6",
    ]);

    const seen: string[] = [];
    for await (const { id } of jobs.list({ pageSize: 3 })) {
      seen.push(id);
      if (seen.length < 3) await submit();
    }
    expect(seen).toEqual(ids);

    const page = await jobs.list({ pageSize: 2, offset: 1 }).page();
    expect(page.meta).toEqual({ total: 9, limit: 2, offset: 1 });
    expect(page.data).toHaveLength(2);
  });

  it("filters by status and Cargo", async () => {
    const done = await fixture.completed(token("a"));
    const { jobs } = fixture.client();
    const completed = await collect(jobs.list({ status: "completed", workload: CARGO }));
    expect(completed.map(({ id }) => id)).toContain(done);
    expect(new Set(completed.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const ended = await collect(jobs.list({ status: ["failed", "cancelled"] }));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["failed", "cancelled"]));
    expect(await collect(jobs.list({ workload: "no-such-cargo" }))).toEqual([]);
  });

  it("requests no more pages after the loop is left", async () => {
    fixture.proxy.script();
    for await (const _ of fixture.client().jobs.list({ pageSize: 1 })) break;
    expect(fixture.proxy.seen).toHaveLength(1);
  });
});

describe("account.ledger()", () => {
  it("iterates over every line once, newest first, with a sum equal to the credits", async () => {
    await fixture.completed(token("a"));
    const { account } = fixture.client();
    const lines = await collect(account.ledger({ pageSize: 3 }));
    expect(lines.at(-1)).toMatchObject({ kind: "grant", amount: 100_000 });
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
    const { credits } = await account.get();
    expect(lines[0]?.balance).toBeCloseTo(credits, 6);
    expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(credits, 6);
  });
});

describe("Pages", () => {
  it("end with the list, even if it gets shorter during the iteration", async () => {
    const offsets: number[] = [];
    const load = async (offset: number): Promise<Page<Pick<JobSummary, "id">>> => {
      offsets.push(offset);
      const data = offset === 0 ? [{ id: "a" }, { id: "b" }] : [];
      return { data, meta: { total: 5, limit: 2, offset } };
    };
    expect(await collect(new Pages(load, ({ id }) => id))).toEqual([{ id: "a" }, { id: "b" }]);
    expect(offsets).toEqual([0, 2]);
  });
});
