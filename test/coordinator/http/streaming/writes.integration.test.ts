import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { expect, it, vi } from "vitest";
import { chatChunks } from "../../../../coordinator/http/streaming/chat-encoder.ts";
import { jobEvents } from "../../../../coordinator/http/streaming/event-encoder.ts";
import { relayFeed, type FeedEncoder } from "../../../../coordinator/http/streaming/sse.ts";
import { listen } from "../../../../coordinator/http/server/transport.ts";
import { FEED_START } from "../../../../coordinator/jobs/feed-position.ts";
import { JobFeed, type FeedEnding } from "../../../../coordinator/jobs/feed.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { readToEnd } from "../api.ts";

const END: FeedEnding = {
  type: "done",
  usage: { promptTokens: 1, completionTokens: 1 },
  finishReason: "stop",
  creditsUsedMicro: 0,
  output: undefined,
};
const chat = chatChunks({ jobId: "job_1", createdS: 1, model: "tiny-chat", includeUsage: false });
const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const say = (feed: JobFeed, content: string): void => feed.push([{ type: "token", content, count: 1 }]);

interface Reader extends AsyncDisposable {
  readonly client: Socket;
  readonly responses: readonly ServerResponse[];
}

/** A feed for each request of one connection, in the order of the requests. */
async function read(feeds: readonly JobFeed[], encoder: FeedEncoder, version = "1.1"): Promise<Reader> {
  const responses: ServerResponse[] = [];
  const clock = new ManualClock();
  const listener = await listen(
    (_request, { outgoing: response }) => {
      const feed = feeds[responses.length] as JobFeed;
      responses.push(response);
      const mayRead = async (): Promise<boolean> => true;
      const explain = async () => null;
      relayFeed({ feed, after: FEED_START, encoder, response, clock, heartbeatMs: 15_000, explain, mayRead });
      return RESPONSE_ALREADY_SENT;
    },
    { host: "127.0.0.1", port: 0 },
  );
  const client = connect(listener.port, "127.0.0.1");
  const last = feeds.length - 1;
  for (const index of feeds.keys()) {
    client.write(`GET / HTTP/${version}\r\nHost: localhost\r\n${index === last ? "Connection: close\r\n" : ""}\r\n`);
  }
  while (responses.length < feeds.length) await nextTick();
  return {
    client,
    responses,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await listener.close(AbortSignal.abort());
    },
  };
}

/** Returns the text of a response body, chunked or not. */
function bodyOf(response: string): string {
  const [head = "", ...rest] = response.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  if (!/^transfer-encoding: chunked$/im.test(head)) return body;
  const bytes = Buffer.from(body);
  let [text, at] = ["", 0];
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString(), 16);
    if (size === 0) return text;
    text += bytes.subarray(lineEnd + 2, lineEnd + 2 + size).toString();
    at = lineEnd + 2 + size + 2;
  }
}
const textOf = (body: string): string =>
  [...body.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, json = '""']) => JSON.parse(json) as string).join("");

it.each([
  ["chat", chat],
  ["job", jobEvents],
])("tokens of one event-loop tick are one write to each reader: %s", async (_name, encoder) => {
  const feed = new JobFeed("job_1");
  await using reader = await read([feed], encoder);
  await nextTick();
  const { socket } = reader.responses[0] as ServerResponse;
  const write = vi.spyOn(socket as Socket, "_write");
  const gathered = vi.spyOn(socket as Socket, "_writev" as "_write");
  for (let turn = 0; turn < 10; turn += 1) {
    for (const content of [" a", " b", " c"]) say(feed, content);
    await nextTick();
  }
  expect([write.mock.calls.length, gathered.mock.calls.length]).toEqual([10, 0]);
  feed.end(END);
  expect(textOf(await readToEnd(reader.client))).toBe(" a b c".repeat(10));
});

it.each(["1.1", "1.0"])("text of any script arrives complete over HTTP/%s", async (version) => {
  const feed = new JobFeed("job_1");
  await using reader = await read([feed], chat, version);
  const words = ["plain", " Größe", " 東京", " 🦜", ' "\\\n\u0001', "plain"];
  for (const word of words) {
    say(feed, word);
    await nextTick();
  }
  feed.end(END);
  const body = bodyOf(await readToEnd(reader.client));
  expect(textOf(body)).toBe(words.join(""));
  expect(body).toMatch(/data: \[DONE\]\n\n$/);
});

it("a stream that waits for an earlier one of its connection follows it completely", async () => {
  const [first, second] = [new JobFeed("job_1"), new JobFeed("job_2")];
  await using reader = await read([first, second], chat);
  for (const content of ["2a", "2b"]) {
    say(second, content);
    await nextTick();
  }
  say(first, "1a");
  await nextTick();
  first.end(END);
  await nextTick();
  say(second, "2c");
  await nextTick();
  second.end(END);
  expect(textOf(await readToEnd(reader.client))).toBe("1a2a2b2c");
});
