import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RateLimitedError } from "../../../../shared/errors.ts";
import { acceptUpgrade } from "../../../support/servers/accept-upgrade.ts";
import { TEST_TRANSPORT, unlessUws } from "../../../support/transport.ts";
import { Api, BodyReader, eventually, readToEnd } from "../api.ts";
import { DONE, makeJob } from "../scripted-jobs.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";

const SESSION = "/api/v1/island/session";
const UPGRADE = [
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

describe("Listener", () => {
  it("passes on upgrades of a path, with or without a query", async () => {
    const urls: (string | undefined)[] = [];
    api.listener.onUpgrade(SESSION, async (request) => {
      urls.push(request.url);
      return acceptUpgrade((socket) => socket.terminate());
    });
    for (const url of [SESSION, `${SESSION}?a=1`]) {
      expect(await readToEnd(await api.raw(`GET ${url} HTTP/1.1`, ...UPGRADE))).toMatch(
        /^HTTP\/1\.1 101 .*X-Own: yes/s,
      );
    }
    expect(urls).toEqual([SESSION, `${SESSION}?a=1`]);
  });

  it.each(["/api/v1/health", `${SESSION}/x`])(
    "ignores an upgrade of %s, and serves the request without it",
    async (path) => {
      api.listener.onUpgrade(SESSION, () => expect.unreachable());
      const response = await readToEnd(await api.raw(`GET ${path} HTTP/1.1`, ...UPGRADE, "Connection: close"));
      const plain = await api.call("GET", path, { base: "", key: null });
      expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${plain.status} `));
      expect(response.split("\r\n\r\n")[1]).toBe(plain.text);
    },
  );

  it("serves a client that offers HTTP/2 in clear text with HTTP/1.1, including its body", async () => {
    api.listener.onUpgrade(SESSION, () => expect.unreachable());
    const body = JSON.stringify({ workload: "tiny", input: { prompt: "hi ".repeat(40_000) } });
    const headers = {
      authorization: `Bearer ${api.key}`,
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      // These are the headers of curl --http2.
      "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA",
    };
    const asked = request(`${api.url}/api/v1/jobs`, { method: "POST", headers });
    asked.end(body);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect([response.statusCode, response.httpVersion]).toEqual([201, "1.1"]);
    expect(await text(response)).toContain('"status":"submitted"');
  });

  it("responds to a refused upgrade with the handler's error, and leaves no connection half open", async () => {
    api.listener.onUpgrade(SESSION, () => Promise.reject(new RateLimitedError("requests_per_minute", 7)));
    // This client never closes its side.
    const client = connect({ port: api.port, host: "127.0.0.1", allowHalfOpen: true });
    client.write(`GET ${SESSION} HTTP/1.1\r\n${UPGRADE.join("\r\n")}\r\n\r\n`);
    let response = "";
    client.on("data", (chunk: Buffer) => {
      response += chunk.toString();
    });
    await once(client, "end");
    expect(response).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\nRetry-After: 7\r\n/);
    expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n")))).toEqual({
      error: { message: expect.any(String), code: "rate_limited", retry_after: 7, limit: "requests_per_minute" },
    });
    // The other side has closed, so writes to it are refused.
    const gone = once(client, "error");
    client.write("x");
    await new Promise((resolve) => setImmediate(resolve));
    client.write("x");
    await gone;
    client.destroy();
  });

  it("closes the socket when the handler fails", async () => {
    api.listener.onUpgrade(SESSION, () => Promise.reject(new Error("no")));
    expect(await readToEnd(await api.raw(`GET ${SESSION} HTTP/1.1`, ...UPGRADE))).toBe("");
  });

  const GET = "GET /api/v1/health HTTP/1.1";
  const PARSED = [
    ["an unknown Expect", [GET, "Host: localhost", "Expect: foo"], 417],
    ["an invalid Host", [GET, "Host: a b/<>"], 400],
    ["two lengths", [GET, "Host: localhost", "Content-Length: 1", "Content-Length: 2"], 400],
  ] as const;
  /** uWebSockets.js responds to these requests itself, with a status and without our body. */
  const UNPARSED = [
    ["headers that are too large", [GET, "Host: localhost", `X-A: ${"a".repeat(20_000)}`], 431],
    ["what is not HTTP", ["GARBAGE"], 400],
    ["no Host", [GET], 400],
    ["no Host, in HTTP/1.0", ["GET /api/v1/health HTTP/1.0"], 400],
  ] as const;
  it.each(TEST_TRANSPORT.transport === "uws" ? PARSED : [...PARSED, ...UNPARSED])(
    "answers %s with an error body, and closes the connection",
    async (_, head, status) => {
      const response = await readToEnd(await api.raw(...head));
      expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*\\r\\nConnection: close\\r\\n`, "is"));
      expect(response.split("HTTP/1.1 ").length).toBe(2);
      const body = response.slice(response.indexOf("\r\n\r\n") + 4);
      expect(JSON.parse(body)).toEqual({ error: { message: expect.any(String), code: "bad_request" } });
    },
  );

  it(...unlessUws("writes no error into a response that has begun", "it waits for more"), async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    feed.push([{ type: "status", state: "running" }]);
    const socket = await api.raw(
      "GET /api/v1/jobs/job_1/stream HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${api.key}`,
    );
    let seen = "";
    socket.on("data", (chunk: Buffer) => (seen += chunk.toString()));
    await eventually(() => seen.includes("event: status"));
    socket.write("GARBAGE\r\n\r\n");
    await once(socket, "close");
    expect(seen).not.toContain("bad_request");
    await eventually(() => feed.listeners === 0);
  });

  it("close() closes idle connections and accepts no new ones", async () => {
    const idle = connect(api.port, "127.0.0.1");
    await once(idle, "connect");
    idle.write("GET /api/v1/cargos HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(idle, "data");
    const { port } = api;
    await api.listener.close(new AbortController().signal);
    await readToEnd(idle);
    const late = connect(port, "127.0.0.1");
    const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
    api = await Api.open();
  });

  it(
    ...unlessSeveral("close() waits for responses in flight, whose connections then close", "it closes one"),
    async () => {
      const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
      const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
      let isClosed = false;
      const closed = api.listener.close(new AbortController().signal).then(() => {
        isClosed = true;
      });
      feed.push([{ type: "status", state: "running" }]);
      await reader.until("\n\n");
      expect(isClosed).toBe(false);
      feed.end(DONE);
      expect(await reader.toEnd()).toContain("event: done");
      await closed;
      api = await Api.open();
    },
  );

  it(
    ...unlessSeveral("close() cuts the remaining connections at the deadline, also upgraded sockets", "it closes one"),
    async () => {
      const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
      api.listener.onUpgrade(SESSION, async () => acceptUpgrade());
      const upgraded = await api.raw(`GET ${SESSION} HTTP/1.1`, ...UPGRADE);
      await once(upgraded, "data");
      const reader = new BodyReader(await api.fetch("GET", "/jobs/job_1/stream"));
      const deadline = new AbortController();
      const closed = api.listener.close(deadline.signal);
      deadline.abort();
      await closed;
      await expect(reader.toEnd()).rejects.toThrow();
      await readToEnd(upgraded);
      await eventually(() => feed.listeners === 0);
      expect(api.clock.pendingTimers).toBe(0);
      api = await Api.open();
    },
  );

  it("close() finishes a request that had started, and tells its client not to send another", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    const response = await api.fetch("GET", "/jobs/job_1/stream");
    const begun = connect(api.port, "127.0.0.1");
    await once(begun, "connect");
    begun.write("GET /api/v1/cargos HTTP/1.1\r\n");
    await api.call("GET", "/cargos");
    const closed = api.listener.close(new AbortController().signal);
    begun.write("Host: localhost\r\n\r\n");
    expect(await readToEnd(begun)).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n/s);
    feed.end(DONE);
    await response.text();
    await closed;
    api = await Api.open();
  });

  it("refuses upgrades while it closes", async () => {
    const feed = api.jobs.add(makeJob({ accountId: api.accountId }));
    api.listener.onUpgrade(SESSION, () => expect.unreachable());
    const waiting = connect(api.port, "127.0.0.1");
    await once(waiting, "connect");
    const response = await api.fetch("GET", "/jobs/job_1/stream");
    // Half a request keeps the connection from being idle.
    waiting.write(`GET ${SESSION} HTTP/1.1\r\n`);
    await api.call("GET", "/cargos");
    const closed = api.listener.close(new AbortController().signal);
    waiting.write(`${UPGRADE.join("\r\n")}\r\n\r\n`);
    expect(await readToEnd(waiting)).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n/);
    feed.end(DONE);
    await response.text();
    await closed;
    api = await Api.open();
  });
});
