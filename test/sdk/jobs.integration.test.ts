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
  it("gives the completed job", async () => {
    const assign = await fixture.begin();
    const waited = fixture.client().jobs.wait(assign.jobId);
    await fixture.proxy.sees(2);
    fixture.island.send(output(assign, 1, token("a"), token("b")), finished(assign, 2));
    expect(await waited).toMatchObject({ id: assign.jobId, status: "completed", output: "ab" });
  });

  it("goes on after lost connections", async () => {
    const id = await fixture.completed(token("a"));
    fixture.proxy.script({ kind: "refuse" }, { kind: "swallow" });
    expect((await fixture.client().jobs.wait(id)).output).toBe("a");
    expect(fixture.proxy.seen).toHaveLength(3);
  });

  it("throws JobFailedError with the job when it failed or was cancelled", async () => {
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

  it("ends by timeoutMs and by its signal, and the job goes on", async () => {
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
  it("gives what there is so far, and all of it in the end", async () => {
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
  it("cancels, and a second time it stays so", async () => {
    const { jobId } = await fixture.begin();
    const { jobs } = fixture.client();
    expect(await jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
    expect(await jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
  });

  it("holds although its first answer was lost", async () => {
    const { jobId } = await fixture.begin();
    fixture.proxy.script({ kind: "swallow" });
    expect(await fixture.client().jobs.cancel(jobId)).toEqual({ id: jobId, status: "cancelled" });
  });

  it("is refused for a completed job", async () => {
    const id = await fixture.completed(token("a"));
    await expect(fixture.client().jobs.cancel(id)).rejects.toMatchObject({ code: "job_not_cancellable", status: 422 });
  });
});

describe("jobs.delete()", () => {
  it("removes prompt and answer of a job that has ended, also when its first answer is lost", async () => {
    const id = await fixture.completed(token("a"));
    fixture.proxy.script({ kind: "swallow" });
    const { jobs } = fixture.client();
    await jobs.delete(id);
    expect(await jobs.get(id)).toMatchObject({ status: "completed", input: {}, output: null });
    await expect(jobs.output(id)).rejects.toMatchObject({ status: 410, code: "content_removed" });
  });

  it("cancels a job that has not ended first", async () => {
    const { jobId } = await fixture.begin();
    const { jobs } = fixture.client();
    await jobs.delete(jobId);
    expect(await jobs.get(jobId)).toMatchObject({ status: "cancelled", input: {} });
  });
});

describe("jobs.list()", () => {
  it("walks all pages, each job once, newest first, also when jobs are added meanwhile", async () => {
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

  it("can be left at any item, and asks for no page more", async () => {
    fixture.proxy.script();
    for await (const _ of fixture.client().jobs.list({ pageSize: 1 })) break;
    expect(fixture.proxy.seen).toHaveLength(1);
  });
});

describe("account.ledger()", () => {
  it("walks every line once, newest first, and they sum to the credits", async () => {
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
  it("end where the list ends, also when it got shorter meanwhile", async () => {
    const asked: number[] = [];
    const load = async (offset: number): Promise<Page<Pick<JobSummary, "id">>> => {
      asked.push(offset);
      const data = offset === 0 ? [{ id: "a" }, { id: "b" }] : [];
      return { data, meta: { total: 5, limit: 2, offset } };
    };
    expect(await collect(new Pages(load, ({ id }) => id))).toEqual([{ id: "a" }, { id: "b" }]);
    expect(asked).toEqual([0, 2]);
  });
});
