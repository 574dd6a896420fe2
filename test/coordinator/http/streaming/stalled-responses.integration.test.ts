import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../shared/clock.ts";
import { FEED_START } from "../../../../coordinator/jobs/feed-position.ts";
import { JobFeed } from "../../../../coordinator/jobs/feed.ts";
import { jobEvents } from "../../../../coordinator/http/streaming/event-encoder.ts";
import { listen, type FetchHandler, type Listener } from "../../../../coordinator/http/server/transport.ts";
import { relayFeed } from "../../../../coordinator/http/streaming/sse.ts";
import { TEST_TRANSPORT } from "../../../support/transport.ts";
import { readToEnd } from "../api.ts";

/** Larger than the system's own buffers. */
const LARGE_BYTES = 16 * 1_024 * 1_024;
/** Longer than an event-loop tick takes on a busy machine. */
const STALLED_MS = 1_000;
/** Pause after each piece that the slow client reads. */
const PAUSE_MS = 10;

/** A response as seen by the server. */
interface Watched {
  readonly response: ServerResponse;
  /** Resolves when the response has ended, with whether all of it was sent. */
  readonly closed: Promise<boolean>;
}

let listener: Listener;
let responses: Map<string, Watched>;
/** The response of `/wait` waits for this promise, and the response of `/endless` ends after it. */
let gate: PromiseWithResolvers<void>;

const large = "x".repeat(LARGE_BYTES);
const routes: Readonly<Record<string, FetchHandler>> = {
  "/large": () => new Response(large),
  "/wait": () => gate.promise.then(() => new Response("at last")),
  "/endless": () => {
    let isOver = false;
    void gate.promise.then(() => {
      isOver = true;
    });
    const piece = new Uint8Array(1_024 * 1_024);
    return new Response(
      new ReadableStream({
        pull: (controller) => (isOver ? controller.close() : controller.enqueue(piece)),
      }),
    );
  },
  "/stream": (_request, { outgoing: response }) => {
    const feed = new JobFeed("job_1", [{ attempt: 1, items: [{ type: "token", content: large, count: 1 }] }]);
    relayFeed({
      feed,
      after: FEED_START,
      encoder: jobEvents,
      response,
      clock: systemClock,
      heartbeatMs: 10,
      explain: async () => null,
      mayRead: async () => true,
    });
    return RESPONSE_ALREADY_SENT;
  },
};

beforeEach(async () => {
  responses = new Map();
  gate = Promise.withResolvers<void>();
  const fetch: FetchHandler = (request, env) => {
    const { pathname, search } = new URL(request.url);
    const closed = once(env.outgoing, "close").then(() => env.outgoing.writableFinished);
    responses.set(pathname + search, { response: env.outgoing, closed });
    return routes[pathname]?.(request, env) ?? new Response(null, { status: 404 });
  };
  listener = await listen(fetch, { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0, stalledMs: STALLED_MS });
});
afterEach(() => listener.close(AbortSignal.abort()));

async function ask(path: string): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  await once(socket, "connect");
  // The client pauses before the response arrives, so only the system's buffers take data.
  socket.pause();
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return socket;
}

/** Resolves when the server sees the response closed, with whether all of it was sent. */
async function closed(path: string): Promise<boolean> {
  while (!responses.has(path)) await sleep(1);
  return responses.get(path)?.closed ?? false;
}

describe("a response whose client does not read", () => {
  it.each(["/large", "/stream"])("is cut off: %s", async (path) => {
    const socket = await ask(path);
    expect(await closed(path)).toBe(false);
    socket.destroy();
  });

  it("is complete for a client that reads slowly, and cut for one that does not read", async () => {
    const slow = await ask("/endless");
    slow.on("data", () => {
      slow.pause();
      setTimeout(() => slow.resume(), PAUSE_MS);
    });
    slow.resume();
    const stalled = await ask("/large");
    expect(await closed("/large")).toBe(false);
    gate.resolve();
    expect(await closed("/endless")).toBe(true);
    for (const socket of [stalled, slow]) socket.destroy();
  });

  it("may take any time to produce", async () => {
    const waiting = await ask("/wait");
    const stalled = await ask("/large");
    expect(await closed("/large")).toBe(false);
    gate.resolve();
    const received = readToEnd(waiting);
    waiting.resume();
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK.*at last/s);
    stalled.destroy();
  });
});
