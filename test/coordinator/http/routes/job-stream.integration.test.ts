import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import { Api, BodyReader, eventually, readToEnd } from "../api.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";
import { dechunk, readEvents, textOf } from "../sse-events.ts";

const token = (content: string): FeedItem => ({ type: "token", content, count: 1 });
const status = (state: string): FeedItem => ({ type: "status", state });

const STORY: readonly FeedItem[] = [
  status("pending"),
  status("queued"),
  status("running"),
  token("Once"),
  token(" upon\r\n"),
  status("pending"),
  status("running"),
  token(" a — 時"),
  { type: "progress", step: 1, total: 4 },
  { type: "image", data: "aGk=", format: "png" },
  token("."),
];

describe("GET /jobs/:id/stream", () => {
  let api: Api;
  beforeEach(async () => {
    api = await Api.open();
  });
  afterEach(() => api[Symbol.asyncDispose]());

  const stream = (headers: Record<string, string> = {}, query = "") =>
    api.call("GET", `/jobs/job_1/stream${query}`, { headers });

  it("sends one event per item as it arrives, and ends after done", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([status("pending")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    expect(await reader.until("\n\n")).toBe('id: 0.1\nevent: status\ndata: {"type":"status","state":"pending"}\n\n');
    feed.push([token("Hel\nlo"), token(" “you”")]);
    feed.push([
      { type: "progress", step: 1, total: 4 },
      { type: "image", data: "aGk=", format: "png" },
    ]);
    feed.end(DONE);
    expect(await reader.toEnd()).toBe(
      [
        'id: 0.1\nevent: status\ndata: {"type":"status","state":"pending"}\n\n',
        'id: 1.1\nevent: token\ndata: {"type":"token","content":"Hel\\nlo"}\n\n',
        'id: 2.1\nevent: token\ndata: {"type":"token","content":" “you”"}\n\n',
        'id: 3.1\nevent: progress\ndata: {"type":"progress","step":1,"total":4}\n\n',
        'id: 4.1\nevent: image\ndata: {"type":"image","data":"aGk=","format":"png"}\n\n',
        'id: 4.1.end\nevent: done\ndata: {"type":"done","usage":{"prompt_tokens":3,"completion_tokens":2,' +
          '"total_tokens":5,"credits_used":1.5},"finish_reason":"stop"}\n\n',
      ].join(""),
    );
  });

  it("sends the reason for no output at once and every 5 s, in a comment and in a status with the previous id", async () => {
    const waiting = { reason: "model_downloading", position: 1, message: "model is downloading", percent: 59 } as const;
    const feed = api.jobs.add(makeJob({ accountId: api.accountId, state: "queued", waiting }));
    feed.push([status("queued")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    const event =
      'id: 0.1\nevent: status\ndata: {"type":"status","state":"queued","message":"model is downloading","percent":59}\n\n';
    const told = `: waiting, model is downloading\n\n${event}`;
    expect(await reader.until(told)).toContain('"state":"queued"}\n\n');
    api.clock.advance(5_000);
    await reader.until(told + told);
    feed.push([token("now")]);
    feed.end(DONE);
    expect((await reader.toEnd()).split("waiting")).toHaveLength(3);
  });

  it("sends its headers before there is any event", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId }));
    const response = await api.fetch("GET", "/jobs/job_1/stream");
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      "access-control-allow-origin": "*",
    });
    await response.body?.cancel();
  });

  it("answers HEAD with only the headers and opens no stream", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const response = await api.call("HEAD", "/jobs/job_1/stream");
    expect([response.status, response.text, feed.listeners]).toEqual([200, "", 0]);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  });

  it("ends a failed job with one error event", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([token("a")]);
    feed.end({ type: "error", code: "island_lost", message: "gone", retryable: true });
    expect((await stream()).text).toBe(
      'id: 1.0\nevent: token\ndata: {"type":"token","content":"a"}\n\n' +
        'id: 1.0.end\nevent: error\ndata: {"type":"error","error":"gone","code":"island_lost","retryable":true}\n\n',
    );
  });

  it("sends a JSON output in done, and text only once", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId })).end({ ...DONE, output: [{ label: "A" }] });
    const streamed = api.jobs.add(makeJob({ id: "job_2", accountId: api.accountId }));
    streamed.push([{ type: "token", content: "the text", count: 2 }]);
    streamed.end({ ...DONE, output: "the text" });
    const [json] = readEvents((await stream()).text);
    const text = readEvents((await api.call("GET", "/jobs/job_2/stream")).text).at(-1);
    expect(json?.data.output).toEqual([{ label: "A" }]);
    expect(text?.data).not.toHaveProperty("output");
  });

  it("replays a finished job, and continues exactly after the id of every event", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push(STORY);
    feed.end(DONE);
    const whole = (await stream()).text;
    const events = readEvents(whole);
    expect(events).toHaveLength(STORY.length + 1);
    let rest = whole;
    for (const { id } of events.slice(0, -1)) {
      rest = rest.slice(rest.indexOf("\n\n") + 2);
      expect((await stream({ "last-event-id": id })).text).toBe(rest);
      expect((await stream({}, `?last_event_id=${id}`)).text).toBe(rest);
    }
  });

  it("resumes a running job without gap or repeat", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push(STORY.slice(0, 5));
    const reader = new BodyReader(
      await api.fetch("GET", "/jobs/job_1/stream", { headers: { "last-event-id": "1.3" } }),
    );
    await reader.until("\n\n");
    feed.push(STORY.slice(5));
    feed.end(DONE);
    const events = readEvents(await reader.toEnd());
    expect(events.map(({ id }) => id)).toEqual(["2.3", "2.4", "2.5", "3.5", "4.5", "5.5", "6.5", "6.5.end"]);
  });

  it("returns 204 to a reader that already has the end", async () => {
    api.jobs.add(makeJob({ accountId: api.accountId })).end(DONE);
    const response = await stream({ "last-event-id": "0.0.end" });
    expect([response.status, response.text]).toEqual([204, ""]);
  });

  it.each(["", "7", "a.b", "-1.0", "1.2.fin", "99999999999.0"])("ignores the invalid Last-Event-ID %j", async (id) => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push(STORY);
    feed.end(DONE);
    expect(readEvents((await stream({ "last-event-id": id })).text)).toHaveLength(STORY.length + 1);
  });

  it("returns 404 for a job of another account", async () => {
    api.jobs.add(makeJob({ accountId: "user_other" }));
    expect((await stream()).status).toBe(404);
  });

  it("sends a comment every 15 s once there is output, and events continue", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([token("a")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    const first = await reader.until("\n\n");
    api.clock.advance(14_999);
    api.clock.advance(1);
    expect(await reader.until(": heartbeat\n\n")).toBe(`${first}: heartbeat\n\n`);
    for (const beats of [2, 3]) {
      api.clock.advance(15_000);
      await reader.until(": heartbeat\n\n".repeat(beats));
    }
    feed.end(DONE);
    const text = await reader.toEnd();
    expect(text.match(/^: heartbeat\n\n/gm)).toHaveLength(3);
    expect(readEvents(text)).toHaveLength(2);
  });

  it("releases feed and timer when the client disconnects, while the job continues", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([status("pending")]);
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    await reader.until("\n\n");
    expect([feed.listeners, api.clock.pendingTimers]).toEqual([1, 1]);
    await reader.cancel();
    await eventually(() => feed.listeners === 0);
    expect(api.clock.pendingTimers).toBe(0);
    expect(api.jobs.cancelled).toEqual([]);
    feed.push([token("unread")]);
  });

  it("starts nothing if the client has already disconnected", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const gate = Promise.withResolvers<void>();
    api.jobs.feedGate = gate.promise;
    const leave = new AbortController();
    const request = fetch(`${api.url}/api/v1/jobs/job_1/stream`, {
      headers: { authorization: `Bearer ${api.key}` },
      signal: leave.signal,
    });
    await eventually(() => api.jobs.opened === 1);
    leave.abort();
    await expect(request).rejects.toThrow();
    await eventually(() => api.logLines.length === 1);
    gate.resolve();
    await api.call("GET", "/cargos");
    expect([feed.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("releases feed and timer when the job ends", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    feed.end(DONE);
    await reader.toEnd();
    expect([feed.listeners, api.clock.pendingTimers]).toEqual([0, 0]);
  });

  it("merges tokens for a reader that falls behind, and loses none of 50,000", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const socket = await api.raw(
      "GET /api/v1/jobs/job_1/stream HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
      "Connection: close",
    );
    socket.pause();
    await eventually(() => feed.listeners === 1);
    const words = Array.from({ length: 50_000 }, (_, index) => `${index}${"·".repeat(200)} `);
    for (const word of words) feed.push([token(word)]);
    feed.push([status("late")]);
    feed.end(DONE);
    // Bytes that the server holds for the reader, without the bytes in the socket's buffers.
    expect(api.jobs.feeds.get("job_1")?.listeners).toBe(1);
    const received = readToEnd(socket);
    socket.resume();
    const events = readEvents(dechunk(await received));
    expect(textOf(events)).toBe(words.join(""));
    expect(events.slice(-2).map(({ id }) => id)).toEqual(["50000.1", "50000.1.end"]);
    const tokens = events.filter(({ event }) => event === "token");
    expect(tokens.length).toBeLessThan(5_000);
    // Every id counts the tokens delivered up to its event.
    let given = "";
    for (const { id, data } of tokens) {
      given += data.content;
      expect(given.split(" ").length - 1).toBe(Number(id.split(".")[0]));
      if (given.length > 200_000) break;
    }
  });

  it("sends each of 2,000 tokens separately to a fast reader, one write per push", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
    for (let sent = 0; sent < 2_000; sent += 1) {
      feed.push([token(`${sent} `)]);
      if (sent % 100 === 99) await reader.until(`"content":"${sent} "}\n\n`);
    }
    feed.end(DONE);
    expect(readEvents(await reader.toEnd())).toHaveLength(2_001);
  });

  it("serves many readers of one feed, each at its own position", async () => {
    await api.setLimits({ concurrentStreams: 21 });
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push(STORY.slice(0, 4));
    const early = await Promise.all(Array.from({ length: 20 }, () => api.fetch("GET", "/jobs/job_1/stream")));
    feed.push(STORY.slice(4));
    const late = await api.fetch("GET", "/jobs/job_1/stream");
    feed.end(DONE);
    const texts = await Promise.all([...early, late].map((response) => response.text()));
    expect(new Set(texts).size).toBe(1);
    expect(readEvents(texts[0] as string)).toHaveLength(STORY.length + 1);
  });
});
