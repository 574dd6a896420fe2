import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { expect, it } from "vitest";
import { listen } from "../../../../coordinator/http/server/transport.ts";
import { jobEvents } from "../../../../coordinator/http/streaming/event-encoder.ts";
import { relayFeed } from "../../../../coordinator/http/streaming/sse.ts";
import { FEED_START } from "../../../../coordinator/jobs/feed-position.ts";
import { JobFeed } from "../../../../coordinator/jobs/feed.ts";
import { LargeJson } from "../../../../coordinator/store/jobs/large-json.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { TEST_TRANSPORT } from "../../../support/transport.ts";
import { eventually } from "../api.ts";

/** Larger than one write of 16,384 characters with its frames, and far smaller than the 64 KiB of a socket's buffer. */
const MAX_HELD_BYTES = 24 * 1_024;
/** Larger than the system's own buffers. */
const TURNS = 400;
const TOKENS_A_TURN = 100;
const TEXT = "word ".repeat(100);

/**
 * Returns a feed, and the memory that the server holds for a client that opened the feed's stream and does not read.
 */
async function openStuck(feed: JobFeed): Promise<AsyncDisposable & { readonly response: ServerResponse }> {
  const opened = Promise.withResolvers<ServerResponse>();
  const clock = new ManualClock();
  const listener = await listen(
    (_request, { outgoing: response }) => {
      const mayRead = async (): Promise<boolean> => true;
      const explain = async () => null;
      relayFeed({
        feed,
        after: FEED_START,
        encoder: jobEvents,
        response,
        clock,
        heartbeatMs: 15_000,
        explain,
        mayRead,
      });
      opened.resolve(response);
      return RESPONSE_ALREADY_SENT;
    },
    { ...TEST_TRANSPORT, host: "127.0.0.1", port: 0 },
  );
  const socket = connect(listener.port, "127.0.0.1");
  await once(socket, "connect");
  socket.pause();
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return {
    response: await opened.promise,
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await listener.close(AbortSignal.abort());
    },
  };
}

it("a reader that does not read holds one write, however many tokens arrive", async () => {
  const feed = new JobFeed("job_1");
  await using stuck = await openStuck(feed);
  let mostHeld = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (let token = 0; token < TOKENS_A_TURN; token += 1) feed.push([{ type: "token", content: TEXT, count: 1 }]);
    await new Promise((resolve) => setImmediate(resolve));
    mostHeld = Math.max(mostHeld, stuck.response.writableLength);
  }
  expect(stuck.response.writableLength).toBeGreaterThan(0);
  expect(mostHeld).toBeLessThan(MAX_HELD_BYTES);
});

it("a reader that does not read an image holds one piece of it", async () => {
  const feed = new JobFeed("job_1");
  const piece = "A".repeat(64 * 1_024);
  const pieces = 1_000;
  let read = 0;
  const readPiece = async (): Promise<string> => {
    read += 1;
    return piece;
  };
  feed.push([{ type: "image", data: new LargeJson(pieces * piece.length, readPiece), format: "png" }]);
  await using stuck = await openStuck(feed);
  await eventually(() => stuck.response.writableLength > 0);
  let before = 0;
  while (before !== read) {
    before = read;
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(stuck.response.writableLength).toBeLessThan(2 * piece.length);
  expect(read).toBeLessThan(pieces / 2);
});
