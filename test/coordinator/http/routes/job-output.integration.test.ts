import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Api, eventually } from "../api.ts";
import { DONE, makeJob, type WatchedFeed } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const token = (content: string) => ({ type: "token" as const, content, count: 2 });
const image = (data: string) => ({ type: "image" as const, data, format: "png" });
const CANCELLED = { type: "error", code: "cancelled", message: "The job was cancelled", retryable: false } as const;

/** Ends the scripted job as the coordinator does, first in storage and then in its feed. */
function complete(feed: WatchedFeed, output: unknown): void {
  const { usage } = DONE;
  const job = api.jobs.jobs.get("job_1") ?? makeJob();
  api.jobs.jobs.set("job_1", { ...job, state: "completed", output, usage, creditsUsedMicro: 1_500_000 });
  feed.end(DONE);
}

describe("GET /jobs/:id/output", () => {
  const outputOf = async () => {
    const { status, body } = await api.call("GET", "/jobs/job_1/output");
    expect(status).toBe(200);
    return body.data;
  };

  it("returns null before any output", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    expect(await outputOf()).toEqual({
      id: "job_1",
      workload_slug: "tiny",
      status: "pending",
      output: null,
      is_complete: false,
      tokens: 0,
      progress: null,
      usage: null,
    });
  });

  it("returns the text so far while a text Cargo runs, and all of it afterwards", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "running" }));
    feed.push([{ type: "status", state: "running" }, token("Once "), token("upon")]);
    expect(await outputOf()).toMatchObject({ status: "running", output: "Once upon", is_complete: false, tokens: 4 });
    feed.push([token(" a time")]);
    complete(feed, "Once upon a time");
    expect(await outputOf()).toMatchObject({
      status: "completed",
      output: "Once upon a time",
      is_complete: true,
      usage: { total_tokens: 5, credits_used: 1.5 },
    });
  });

  it("returns the latest image and the progress", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "running" }));
    feed.push([
      { type: "progress", step: 1, total: 4 },
      image("AAAA"),
      { type: "progress", step: 2, total: 4 },
      image("BBBB"),
    ]);
    expect(await outputOf()).toMatchObject({
      output: { format: "png", data: "BBBB" },
      is_complete: false,
      progress: { step: 2, total: 4 },
    });
  });

  it("returns the Cargo's JSON value once it completed", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "running" }));
    feed.push([{ type: "progress", step: 1, total: 1 }]);
    expect((await outputOf()).output).toBeNull();
    complete(feed, [{ label: "good", score: 0.9 }]);
    expect(await outputOf()).toMatchObject({ output: [{ label: "good", score: 0.9 }], is_complete: true });
  });

  it("keeps the output so far when a job is cancelled, marked as not complete", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "cancelled", creditsUsedMicro: 3 }));
    feed.push([token("Once")]);
    feed.end(CANCELLED);
    expect(await outputOf()).toMatchObject({
      status: "cancelled",
      output: "Once",
      is_complete: false,
      usage: { credits_used: 0.000003 },
    });
  });

  it("returns 404 for a job of another account", async () => {
    api.jobs.add(makeJob({ accountId: "user_other" }));
    expect((await api.call("GET", "/jobs/job_1/output")).status).toBe(404);
  });
});

describe("GET /jobs/:id?wait=", () => {
  let feed: WatchedFeed;
  beforeEach(() => {
    feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "running" }));
  });
  const waitFor = (seconds: number) => api.call("GET", `/jobs/job_1?wait=${seconds}`);

  it("responds as soon as the job ends", async () => {
    const response = waitFor(60);
    await eventually(() => feed.listeners === 1);
    feed.push([token("a")]);
    complete(feed, "a");
    const { status, body } = await response;
    expect([status, body.data.status, body.data.output]).toEqual([200, "completed", "a"]);
    expect([feed.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("responds with the current state when the time has passed", async () => {
    const response = waitFor(7);
    await eventually(() => feed.listeners === 1);
    api.clock.advance(6_999);
    api.jobs.jobs.set("job_1", makeJob({ accountId: api.accountId, state: "running", attempt: 2 }));
    api.clock.advance(1);
    const { status, body } = await response;
    expect([status, body.data.status, body.data.attempts]).toEqual([200, "running", 2]);
    expect([feed.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("responds at once for an ended job, and without a wait", async () => {
    expect((await waitFor(0)).body.data.status).toBe("running");
    complete(feed, "a");
    expect((await waitFor(60)).body.data.status).toBe("completed");
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("keeps nothing for a client that disconnected", async () => {
    const socket = await api.raw(
      "GET /api/v1/jobs/job_1?wait=60 HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
    );
    await eventually(() => feed.listeners === 1);
    socket.destroy();
    await eventually(() => feed.listeners === 0);
    expect(api.clock.pendingTimers).toBe(0);
  });

  it("does not count as a stream: any number may wait", async () => {
    await api.setLimits({ concurrentStreams: 0 });
    const answers = Array.from({ length: 20 }, () => waitFor(60));
    await eventually(() => feed.listeners === 20);
    complete(feed, "a");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });

  it.each(["61", "-1", "1.5", "soon", ""])("refuses a wait of %j", async (wait) => {
    const { status, body } = await api.call("GET", `/jobs/job_1?wait=${wait}`);
    expect([status, body.error.details?.[0]?.path]).toEqual([422, "wait"]);
  });
});
