import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConnectionError, NotFoundError, TimeoutError, type StreamedEvent } from "../../sdk/typescript/src/index.ts";
import { collect } from "../support/http/http.ts";
import { HAS_EVERY_ROUND } from "../support/soak-rounds.ts";
import { failed, finished, output, SdkFixture, token } from "./sdk-fixture.ts";

/** Pieces with characters of two, three and four bytes, so that a cut can fall inside a character. */
const PIECES = ["on", "é ", "→two\n", "😀three"];

let fixture: SdkFixture;
let jobId: string;
/** Stream of the job without a fault. */
let whole: StreamedEvent[];
let wholeBytes: number;

beforeAll(async () => {
  // The heartbeats are long, because the Island of this file sends none and the cuts at every byte may take long.
  fixture = await SdkFixture.open();
  jobId = await fixture.completed(
    token(PIECES[0] as string),
    { type: "progress", step: 1, total: 2 },
    ...PIECES.slice(1).map(token),
  );
  whole = await collect(fixture.client().jobs.stream(jobId));
  const response = await fetch(`${fixture.coordinator.url}/api/v1/jobs/${jobId}/stream`, {
    headers: { authorization: `Bearer ${fixture.apiKey}` },
  });
  wholeBytes = (await response.arrayBuffer()).byteLength;
});
afterAll(() => fixture[Symbol.asyncDispose]());

const textOf = (events: readonly StreamedEvent[]): string =>
  events.map((event) => (event.type === "token" ? event.content : "")).join("");

describe("jobs.stream()", () => {
  it("yields all events in order and ends after done", () => {
    expect(textOf(whole)).toBe(PIECES.join(""));
    expect(whole.filter(({ type }) => type === "done" || type === "error")).toHaveLength(1);
    expect(whole.at(-1)).toMatchObject({ type: "done", finish_reason: "stop", usage: { total_tokens: 8 } });
    expect(whole.find(({ type }) => type === "progress")).toMatchObject({ step: 1, total: 2 });
  });

  it("resumes without gap or repeat after a cut at any byte", async () => {
    const client = fixture.client();
    // A full run cuts at every byte. Other runs use a step that covers each part of an event in some event.
    for (let afterBytes = 0; afterBytes < wholeBytes; afterBytes += HAS_EVERY_ROUND ? 1 : 7) {
      fixture.proxy.script({ kind: "cut", afterBytes });
      const events = await collect(client.jobs.stream(jobId));
      if (events.length !== whole.length) expect({ afterBytes, events }).toEqual({ afterBytes, events: whole });
      expect(events).toEqual(whole);
      // The last bytes are the blank line of the last event. A cut inside them leaves the event incomplete.
      expect(fixture.proxy.seen).toHaveLength(2);
    }
  });

  it("reconnects with the id of the last complete event", async () => {
    fixture.proxy.script({ kind: "cut", afterBytes: wholeBytes - 1 });
    await collect(fixture.client().jobs.stream(jobId));
    expect(fixture.proxy.seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, whole.at(-2)?.id]);
  });

  it("counts only consecutive failures, so that a cut after each event needs one retry", async () => {
    const sizes = await eventSizes();
    fixture.proxy.script(
      ...sizes.map((afterBytes): { kind: "cut"; afterBytes: number } => ({ kind: "cut", afterBytes })),
    );
    expect(await collect(fixture.client({ maxRetries: 1 }).jobs.stream(jobId))).toEqual(whole);
    expect(fixture.proxy.seen).toHaveLength(sizes.length);
  });

  it("gives up after maxRetries without progress", async () => {
    fixture.proxy.script(...Array.from({ length: 9 }, () => ({ kind: "cut", afterBytes: 3 }) as const));
    await expect(collect(fixture.client({ maxRetries: 3 }).jobs.stream(jobId))).rejects.toBeInstanceOf(ConnectionError);
    expect(fixture.proxy.seen).toHaveLength(4);
  });

  it("resumes a silent stream", async () => {
    fixture.proxy.script({ kind: "stall", afterBytes: Math.floor(wholeBytes / 2) });
    expect(await collect(fixture.client({ streamIdleMs: 30 }).jobs.stream(jobId))).toEqual(whole);
    expect(fixture.proxy.seen).toHaveLength(2);
  });

  it("resumes a live stream after a temporary rejection and an unreachable coordinator", async () => {
    const assign = await fixture.begin();
    fixture.island.send(output(assign, 1, token("a")));
    const stream = fixture.client().jobs.stream(assign.jobId);
    const seen: StreamedEvent[] = [];
    fixture.proxy.script(
      { kind: "cut", afterBytes: 100 },
      { kind: "refuse" },
      { kind: "respond", status: 503, body: { error: { message: "Shutting down", code: "shutting_down" } } },
    );
    for await (const event of stream) {
      seen.push(event);
      if (event.type === "token" && event.content === "a") {
        fixture.island.send(output(assign, 2, token("b")), finished(assign, 3));
      }
    }
    expect(textOf(seen)).toBe("ab");
    expect(fixture.proxy.seen).toHaveLength(4);
  });

  it("survives a restart of the coordinator", async () => {
    await using own = await SdkFixture.open({ islandGraceS: 0.1 });
    const id = await own.completed(token("before "), token("after"));
    const client = own.client({ backoff: { firstMs: 20, mostMs: 100 }, maxRetries: 100 });
    const seen: StreamedEvent[] = [];
    own.proxy.script({ kind: "cut", afterBytes: 200 });
    for await (const event of client.jobs.stream(id)) {
      seen.push(event);
      if (seen.length === 1) {
        await own.coordinator.stop();
        await own.coordinator.start();
      }
    }
    expect(textOf(seen)).toBe("before after");
    expect(seen.at(-1)?.type).toBe("done");
  });

  it("yields restart if its position is lost, and all events from the beginning", async () => {
    const lost = { error: { message: "Read it again", code: "position_lost" } };
    fixture.proxy.script({ kind: "end", afterBytes: wholeBytes / 2 }, { kind: "respond", status: 422, body: lost });
    const events = await collect(fixture.client({ maxRetries: 1 }).jobs.stream(jobId));
    const restartedAt = events.findIndex(({ type }) => type === "restart");
    expect(restartedAt).toBeGreaterThan(0);
    expect(events[restartedAt]).toEqual({ type: "restart", id: "" });
    expect(events.slice(restartedAt + 1)).toEqual(whole);
    expect(fixture.proxy.seen.map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      events[restartedAt - 1]?.id,
      undefined,
    ]);
  });

  it("throws position_lost if it sent no position", async () => {
    const lost = { error: { message: "Read it again", code: "position_lost" } };
    fixture.proxy.script({ kind: "respond", status: 422, body: lost });
    await expect(collect(fixture.client().jobs.stream(jobId))).rejects.toMatchObject({ code: "position_lost" });
  });

  it("continues after lastEventId, and yields nothing after the last event", async () => {
    const from = whole[2] as StreamedEvent;
    const client = fixture.client();
    expect(await collect(client.jobs.stream(jobId, { lastEventId: from.id }))).toEqual(whole.slice(3));
    fixture.proxy.script();
    expect(await collect(client.jobs.stream(jobId, { lastEventId: whole.at(-1)?.id }))).toEqual([]);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("ends after error, as an event and not an exception", async () => {
    const assign = await fixture.begin();
    fixture.island.send(failed(assign, 1));
    const events = await collect(fixture.client().jobs.stream(assign.jobId));
    expect(events.at(-1)).toMatchObject({
      type: "error",
      code: "model_invalid",
      error: "The Cargo's model or image cannot be loaded. The Island says: No such thing",
      retryable: false,
    });
  });

  it("throws permanent errors at once", async () => {
    fixture.proxy.script();
    await expect(collect(fixture.client().jobs.stream("job_none"))).rejects.toBeInstanceOf(NotFoundError);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("throws the signal's reason when it aborts, while waiting for the coordinator and between attempts", async () => {
    const assign = await fixture.begin();
    const reason = new Error("enough");
    const waiting = new AbortController();
    const streamed = (async () => {
      for await (const _ of fixture.client().jobs.stream(assign.jobId, { signal: waiting.signal }))
        waiting.abort(reason);
    })();
    await expect(streamed).rejects.toBe(reason);

    const pausing = new AbortController();
    fixture.proxy.script({ kind: "refuse" });
    const slow = fixture.client({ backoff: { firstMs: 60_000, mostMs: 60_000 } });
    const paused = collect(slow.jobs.stream(assign.jobId, { signal: pausing.signal }));
    await fixture.proxy.sees(1);
    pausing.abort(reason);
    await expect(paused).rejects.toBe(reason);
    expect(fixture.proxy.seen).toHaveLength(1);
    fixture.island.send(finished(assign, 1));
  });

  it("gives up on a coordinator that never responds", async () => {
    fixture.proxy.script({ kind: "silence" }, { kind: "silence" });
    let tries = 0;
    // The attempts are counted here, because on a busy machine an attempt may end before it reaches the proxy.
    const counted: typeof fetch = (...request) => ((tries += 1), fetch(...request));
    const stream = fixture.client({ maxRetries: 1, timeoutMs: 30, fetch: counted }).jobs.stream(jobId);
    await expect(collect(stream)).rejects.toBeInstanceOf(TimeoutError);
    expect(tries).toBe(2);
  });

  it("closes its connection when the reader leaves", async () => {
    const assign = await fixture.begin();
    // The coordinator limits open streams, so another stream is possible only after the first one is closed.
    const events = await fixture.withStreams(1, async () => {
      for await (const _ of fixture.client().jobs.stream(assign.jobId)) break;
      const again: StreamedEvent[] = [];
      for await (const event of fixture.client().jobs.stream(assign.jobId)) {
        if (again.push(event) === 1) fixture.island.send(finished(assign, 1));
      }
      return again;
    });
    expect(events.at(-1)?.type).toBe("done");
  });

  it("can last longer than timeoutMs, which limits only the start of the response", async () => {
    const assign = await fixture.begin();
    fixture.proxy.script();
    const events: StreamedEvent[] = [];
    for await (const event of fixture.client({ timeoutMs: 200 }).jobs.stream(assign.jobId)) {
      if (events.push(event) > 1) continue;
      await new Promise((resolve) => setTimeout(resolve, 250));
      fixture.island.send(finished(assign, 1));
    }
    expect(events.at(-1)?.type).toBe("done");
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("resumes after an early end without an error", async () => {
    fixture.proxy.script({ kind: "end", afterBytes: Math.floor(wholeBytes / 2) });
    expect(await collect(fixture.client().jobs.stream(jobId))).toEqual(whole);
    expect(fixture.proxy.seen).toHaveLength(2);
  });

  it("is rejected above the account's stream limit, and names the limit", async () => {
    const assign = await fixture.begin();
    const first = fixture.client().jobs.stream(assign.jobId);
    await first.next();
    await fixture.withStreams(1, async () => {
      const second = collect(fixture.client({ maxRetries: 0 }).jobs.stream(assign.jobId));
      await expect(second).rejects.toMatchObject({ name: "RateLimitError", limit: "concurrent_streams" });
    });
    await first.return();
    fixture.island.send(finished(assign, 1));
  });
});

/** Returns the bytes of each event on the wire. */
async function eventSizes(): Promise<number[]> {
  const { body } = await fetch(`${fixture.coordinator.url}/api/v1/jobs/${jobId}/stream`, {
    headers: { authorization: `Bearer ${fixture.apiKey}` },
  }).then(async (response) => ({ body: await response.text() }));
  return body
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => Buffer.byteLength(event) + 2);
}
