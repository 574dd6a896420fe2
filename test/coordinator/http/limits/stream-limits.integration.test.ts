import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RateLimitedError } from "../../../../shared/errors.ts";
import { Api, eventually } from "../api.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const streamOf = (jobId = "job_1", key = api.key) => api.fetch("GET", `/jobs/${jobId}/stream`, { key });

describe("open streams", () => {
  beforeEach(() => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
  });

  it("return 429 for the sixth stream of an account, over all its keys", async () => {
    for (const key of [api.key, api.readKey, api.key, api.readKey, api.key]) {
      expect((await streamOf("job_1", key)).status).toBe(200);
    }
    const refused = await streamOf("job_1", api.readKey);
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      429,
      "1",
      { error: { message: expect.any(String), code: "rate_limited", retry_after: 1, limit: "concurrent_streams" } },
    ]);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("100");
  });

  it("read nothing of the job if refused", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    await streamOf();
    expect((await streamOf()).status).toBe(429);
    expect(api.jobs.opened).toBe(1);
  });

  it("release the slot if the job cannot be read", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    const gate = Promise.withResolvers<void>();
    api.jobs.feedGate = gate.promise;
    const refused = streamOf();
    await eventually(() => api.jobs.opened === 1);
    gate.reject(new Error("the disk is gone"));
    expect((await refused).status).toBe(500);
    api.jobs.feedGate = Promise.resolve();
    expect((await streamOf()).status).toBe(200);
  });

  it("release the slot when they end", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    const first = await streamOf();
    expect((await streamOf()).status).toBe(429);
    api.jobs.feeds.get("job_1")?.end(DONE);
    await first.text();
    expect((await streamOf()).status).toBe(200);
  });

  it("release the slot when the client vanishes", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    const socket = await api.raw(
      "GET /api/v1/jobs/job_1/stream HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
    );
    const feed = api.jobs.feeds.get("job_1");
    await eventually(() => feed?.listeners === 1);
    expect((await streamOf()).status).toBe(429);
    socket.destroy();
    await eventually(() => feed?.listeners === 0);
    expect((await streamOf()).status).toBe(200);
  });

  it("take no slot if they are not opened", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    await streamOf();
    expect((await api.fetch("HEAD", "/jobs/job_1/stream")).status).toBe(200);
    expect((await streamOf("job_none")).status).toBe(404);
    const headers = { "last-event-id": "1.1.end" };
    expect((await api.fetch("GET", "/jobs/job_1/stream", { headers })).status).toBe(204);
  });

  it("include streamed chats, which are refused before there is a job", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    await streamOf();
    const body = { messages: [{ role: "user", content: "Hi" }], stream: true };
    const refused = await api.call("POST", "/chat/completions", { body });
    expect([refused.status, refused.body.error]).toEqual([
      429,
      {
        message: expect.any(String),
        type: "rate_limit_error",
        param: null,
        code: "rate_limited",
        retry_after: 1,
        limit: "concurrent_streams",
      },
    ]);
    expect(api.jobs.submitted).toEqual([]);
    api.jobs.onSubmit = (feed) => feed.end(DONE);
    expect((await api.call("POST", "/chat/completions", { body: { ...body, stream: false } })).status).toBe(200);
  });

  it("release the slot of a chat that was streamed to its end or refused", async () => {
    await api.setLimits({ concurrentStreams: 1 });
    api.jobs.onSubmit = (feed) => feed.end(DONE);
    const body = { messages: [{ role: "user", content: "Hi" }], stream: true };
    api.jobs.failure = new RateLimitedError("concurrent_jobs", 1);
    const refused = await api.call("POST", "/chat/completions", { body });
    expect([refused.status, refused.body.error.limit]).toEqual([429, "concurrent_jobs"]);
    for (let i = 0; i < 3; i += 1) {
      const { status, text } = await api.call("POST", "/chat/completions", { body });
      expect([status, text.endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    }
  });
});

describe("a response above a megabyte", () => {
  const LARGE = "x".repeat(16 * 1_024 * 1_024);
  beforeEach(async () => {
    await api.setLimits({ concurrentStreams: 1 });
    const job = makeJob({ accountId: api.accountId, state: "completed", output: LARGE });
    api.jobs.add(job).end(DONE);
    api.jobs.add(makeJob({ id: "job_running", accountId: api.accountId }));
    api.jobs.add({ ...job, id: "job_small", output: "x".repeat(500_000) }).end(DONE);
  });

  it.each(["/jobs/job_1", "/jobs/job_1/output"])("is an open stream until its client has read it: %s", async (path) => {
    const unread = await api.raw(`GET /api/v1${path} HTTP/1.1`, "Host: localhost", `Authorization: Bearer ${api.key}`);
    unread.pause();
    // The first bytes of the response have arrived, so it has taken its slot.
    await once(unread, "readable");
    const refused = await api.call("GET", path);
    expect([refused.status, refused.headers.get("retry-after"), refused.body.error.limit]).toEqual([
      429,
      "1",
      "concurrent_streams",
    ]);
    expect((await streamOf("job_running")).status).toBe(429);
    unread.destroy();
    await eventually(() => api.logLines.some(({ aborted }) => aborted === true));
    expect((await streamOf("job_running")).status).toBe(200);
  });

  it("is counted, but a smaller one is not", async () => {
    await streamOf("job_running");
    expect((await api.call("GET", "/jobs/job_small")).body.data.output).toHaveLength(500_000);
    expect((await api.call("GET", "/jobs/job_small/output")).status).toBe(200);
    expect((await api.call("GET", "/jobs/job_1")).status).toBe(429);
  });
});
