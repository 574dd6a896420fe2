import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen, type FetchHandler, type Listener } from "../../../../coordinator/http/server/transport.ts";
import { eventually, readToEnd } from "../api.ts";
import type { TransportChoice } from "../../../support/transport.ts";

const KIB = 1_024;
/** Larger than the system's own buffers. */
const LARGE_BYTES = 16 * KIB * KIB;
const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;
const get = (path: string, ...lines: string[]): string => head(`GET ${path} HTTP/1.1`, "Host: localhost", ...lines);

/**
 * HTTP behaviour of the transport that the API relies on.
 * @param skip Reasons, by the title of a case, why the case does not apply to this transport.
 */
export function describeRequests(choice: TransportChoice, skip: Readonly<Record<string, string>> = {}): void {
  const check = (title: string, body: () => Promise<void>): void => {
    it.skipIf(title in skip)(title in skip ? `${title} [${skip[title]}]` : title, body);
  };
  let listener: Listener;
  let handle: FetchHandler;
  /** Responses whose clients disconnected before their end. */
  let aborted: number;
  let sockets: Socket[];

  beforeEach(async () => {
    [aborted, sockets] = [0, []];
    const fetch: FetchHandler = (request, env) => {
      env.outgoing.once("close", () => {
        if (!env.outgoing.writableFinished) aborted += 1;
      });
      return handle(request, env);
    };
    listener = await listen(fetch, { ...choice, host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close(AbortSignal.abort());
  });

  async function open(): Promise<Socket> {
    const socket = connect(listener.port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }

  /** Sends one request on a connection that then closes, and returns the whole response. */
  async function exchange(...parts: (string | Buffer)[]): Promise<string> {
    const socket = await open();
    const response = readToEnd(socket);
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return response;
  }

  const url = (path: string): string => `http://127.0.0.1:${listener.port}${path}`;

  describe(`requests, by ${choice.transport}`, () => {
    check("arrive with their method, path, query and headers unchanged", async () => {
      handle = ({ method, url: at }, { incoming }) =>
        Response.json({
          method,
          at,
          raw: incoming.url,
          list: incoming.headers["x-list"],
          from: incoming.socket.remoteAddress,
        });
      const path = "/a%2Fb/%C3%A9?q=%20x&q=2";
      const request = head(
        `PATCH ${path} HTTP/1.1`,
        "Host: 127.0.0.1:1",
        "X-List: 1",
        "x-list: 2",
        "Connection: close",
      );
      const response = await exchange(request);
      expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n")))).toEqual({
        method: "PATCH",
        at: `http://127.0.0.1:1${path}`,
        raw: path,
        list: "1, 2",
        from: "127.0.0.1",
      });
    });

    check("may have 90 headers with 15 KB in total", async () => {
      handle = (_, { incoming }) => new Response(String(Object.keys(incoming.headers).length));
      const many = Array.from({ length: 90 }, (_, index) => `X-${index}: ${"v".repeat(150)}`);
      expect(await exchange(get("/", ...many, "Connection: close"))).toMatch(/\r\n92$/);
    });

    check("are refused with larger headers", async () => {
      handle = () => expect.unreachable();
      expect(await exchange(get("/", `X-A: ${"a".repeat(20 * KIB)}`))).toMatch(/^HTTP\/1\.1 4(00|31) /);
    });

    check("may have bodies with a length or in chunks, even byte by byte", async () => {
      handle = async (request) => new Response((await request.text()).toUpperCase());
      const post = (...more: string[]): string =>
        head("POST / HTTP/1.1", "Host: localhost", "Connection: close", ...more);
      expect(await exchange(post("Content-Length: 5"), "hello")).toMatch(/\r\nHELLO$/);
      const chunked = "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n".split("");
      expect(await exchange(post("Transfer-Encoding: chunked"), ...chunked)).toMatch(/\r\nHELLO$/);
      const large = "x".repeat(900 * KIB);
      const sent = await fetch(url("/"), { method: "POST", body: large });
      expect(await sent.text()).toBe(large.toUpperCase());
    });

    check("are refused with two lengths, or a length and chunks", async () => {
      handle = () => expect.unreachable();
      for (const second of ["Content-Length: 6", "Transfer-Encoding: chunked"]) {
        const request = head("POST / HTTP/1.1", "Host: localhost", "Content-Length: 5", second);
        expect(await exchange(request)).toMatch(/^HTTP\/1\.1 400 /);
      }
    });

    check("block their client while unread, and are dropped when the response is sent first", async () => {
      const gate = Promise.withResolvers<void>();
      handle = async () => {
        await gate.promise;
        return new Response("no", { status: 413, headers: { Connection: "close" } });
      };
      const socket = await open();
      const response = readToEnd(socket);
      socket.write(head("POST / HTTP/1.1", "Host: localhost", `Content-Length: ${LARGE_BYTES}`));
      let sent = 0;
      const piece = Buffer.alloc(64 * KIB);
      while (sent < LARGE_BYTES && socket.write(piece)) sent += piece.length;
      gate.resolve();
      expect(await response).toMatch(/^HTTP\/1\.1 413 .*\r\nno$/s);
    });

    check("emit an error if they are cut off within their body", async () => {
      const seen = Promise.withResolvers<unknown>();
      handle = async (_, { incoming }) => {
        incoming.on("data", () => undefined).once("error", () => undefined);
        incoming.once("close", () => seen.resolve(incoming.complete));
        await seen.promise;
        return RESPONSE_ALREADY_SENT;
      };
      const socket = await open();
      socket.write(`${head("POST / HTTP/1.1", "Host: localhost", "Content-Length: 10")}hal`);
      await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      expect(await seen.promise).toBe(false);
      await eventually(() => aborted === 1);
    });

    check("can follow one another on a connection", async () => {
      handle = (request) => new Response(new URL(request.url).pathname);
      const socket = await open();
      for (const path of ["/1", "/2", "/3"]) {
        socket.write(get(path));
        expect(String(await once(socket, "data"))).toMatch(new RegExp(`^HTTP/1.1 200 OK\r\n.*${path}$`, "s"));
      }
    });

    check("get their responses in order if they arrive before an earlier response", async () => {
      handle = async (request) => new Response(`<${new URL(request.url).pathname}>`);
      const response = await exchange(get("/1") + get("/2") + get("/3", "Connection: close"));
      expect(response.match(/<.*?>/g)).toEqual(["</1>", "</2>", "</3>"]);
    });

    check("get 100 Continue with Expect: 100-continue", async () => {
      handle = async (request) => new Response(await request.text());
      const socket = await open();
      socket.write(
        head("POST / HTTP/1.1", "Host: localhost", "Expect: 100-continue", "Content-Length: 2", "Connection: close"),
      );
      expect(String(await once(socket, "data"))).toMatch(/^HTTP\/1\.1 100 /);
      const response = readToEnd(socket);
      socket.write("hi");
      expect(await response).toMatch(/^HTTP\/1\.1 200 .*hi$/s);
    });
  });

  describe(`responses, by ${choice.transport}`, () => {
    check("have status, headers and length, and no body for HEAD and 204", async () => {
      handle = (request) =>
        request.method === "OPTIONS"
          ? new Response(null, { status: 204, headers: { "X-Own": "a" } })
          : new Response("twelve bytes", { status: 201, headers: { "X-Own": "a" } });
      const ask = (method: string) => exchange(head(`${method} / HTTP/1.1`, "Host: localhost", "Connection: close"));
      expect(await ask("GET")).toMatch(
        /^HTTP\/1\.1 201 Created\r\n.*X-Own: a\r\n.*Content-Length: 12\r\n.*twelve bytes$/is,
      );
      expect(await ask("HEAD")).toMatch(/^HTTP\/1\.1 201 Created\r\n.*Content-Length: 12\r\n.*\r\n$/is);
      const empty = await ask("OPTIONS");
      expect(empty).toMatch(/^HTTP\/1\.1 204 No Content\r\n.*\r\n\r\n$/s);
      expect(empty).not.toMatch(/content-length|transfer-encoding/i);
    });

    check("are complete at any size, with and without a known length", async () => {
      const large = Buffer.alloc(LARGE_BYTES, "abcdefgh");
      handle = (request) => (request.url.endsWith("/known") ? new Response(large) : new Response(pieces(large)));
      for (const path of ["/known", "/stream"]) {
        const body = Buffer.from(await (await fetch(url(path))).arrayBuffer());
        expect([body.length, body.equals(large)]).toEqual([LARGE_BYTES, true]);
      }
    });

    check("are sent as they are written, and signal when the writer may continue", async () => {
      const gate = Promise.withResolvers<void>();
      handle = (_, { outgoing }) => {
        outgoing.writeHead(200, { "Content-Type": "text/event-stream" });
        outgoing.write("data: 1\n\n", () => gate.resolve());
        void gate.promise.then(() => outgoing.end("data: 2\n\n"));
        return RESPONSE_ALREADY_SENT;
      };
      const response = await exchange(get("/", "Connection: close"));
      expect(response).toMatch(/Transfer-Encoding: chunked\r\n.*data: 1\n\n.*data: 2\n\n/is);
      expect(response.endsWith("\r\n0\r\n\r\n")).toBe(true);
    });

    check("hold little memory for a client that does not read", async () => {
      let written = 0;
      let held = 0;
      handle = (_, { outgoing }) => {
        outgoing.writeHead(200, { "Content-Type": "text/plain" });
        const piece = "x".repeat(20 * KIB);
        const next = (error?: Error | null): void => {
          written += piece.length;
          held = Math.max(held, outgoing.writableLength);
          if (error == null) outgoing.write(piece, next);
        };
        next();
        return RESPONSE_ALREADY_SENT;
      };
      const socket = await open();
      socket.pause();
      socket.write(get("/"));
      let before = -1;
      while (before !== written) {
        before = written;
        for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(written).toBeLessThan(LARGE_BYTES);
      expect(held).toBeLessThan(64 * KIB);
      // The client reads again, and the writer continues.
      socket.resume();
      await eventually(() => written > before + LARGE_BYTES);
      socket.destroy();
      await eventually(() => aborted === 1);
    });

    check("end when their client disconnects", async () => {
      handle = () => new Promise<Response>(() => undefined);
      const socket = await open();
      socket.write(get("/"));
      await new Promise((resolve) => setImmediate(resolve));
      socket.end();
      await eventually(() => aborted === 1);
    });

    check("can be cut by the server", async () => {
      handle = (_, { outgoing }) => {
        outgoing.writeHead(200, { "Content-Type": "text/plain" });
        outgoing.write("begun", () => outgoing.destroy());
        return RESPONSE_ALREADY_SENT;
      };
      expect(await exchange(get("/"))).not.toMatch(/\r\n0\r\n\r\n$/);
      expect(aborted).toBe(1);
    });

    check("are awaited by finishResponses() if they are in flight, and cut at its deadline", async () => {
      const gate = Promise.withResolvers<void>();
      handle = async (request) => {
        await (request.url.endsWith("/never") ? new Promise(() => undefined) : gate.promise);
        return new Response("last words");
      };
      const [slow, never] = [await open(), await open()];
      const [response, cut] = [readToEnd(slow), readToEnd(never)];
      slow.write(get("/slow"));
      never.write(get("/never"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      const deadline = new AbortController();
      const finished = listener.finishResponses(deadline.signal);
      gate.resolve();
      expect(String(await once(slow, "data"))).toMatch(/\r\n\r\nlast words$/);
      deadline.abort();
      await finished;
      expect(await cut).toBe("");
      await response;
    });
  });
}

/** Body without an announced length. */
function pieces(body: Buffer): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= body.length) return controller.close();
      controller.enqueue(body.subarray(at, (at += 300 * KIB)));
    },
  });
}
