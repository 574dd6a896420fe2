import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { listen, type Listener } from "../../../../coordinator/http/server/transport.ts";
import type { SessionSocket, SocketEvents } from "../../../../coordinator/islands/session-socket.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { MAX_FRAME_BYTES } from "../../../../shared/protocol/codec.ts";
import { acceptUpgrade } from "../../../support/servers/accept-upgrade.ts";
import type { TransportChoice } from "../../../support/transport.ts";
import { eventually } from "../api.ts";

const PATH = "/socket";

/** WebSocket behaviour of the transport that Island sessions rely on. */
export function describeSockets(choice: TransportChoice): void {
  let listener: Listener;
  let events: string[];
  let frames: Buffer[];
  /** The last opened socket. */
  let server: SessionSocket;
  let openedSockets = 0;
  let clients: WebSocket[];

  const note: SocketEvents = {
    onMessage: (data, isBinary) => {
      frames.push(data);
      events.push(isBinary ? "binary" : "text");
    },
    onRead: () => undefined,
    onPing: () => void events.push("ping"),
    onPong: () => void events.push("pong"),
    onError: () => undefined,
    onClose: (code) => void events.push(`close ${code}`),
  };

  beforeEach(async () => {
    [events, frames, clients] = [[], [], []];
    listener = await listen(() => new Response("plain"), { ...choice, host: "127.0.0.1", port: 0 });
    listener.onUpgrade(
      PATH,
      async ({ headers }) => {
        if (headers.authorization === undefined) throw new ServiceError("unauthenticated", "Who are you?");
        return acceptUpgrade((socket) => {
          server = socket;
          openedSockets += 1;
          socket.attach(note);
        });
      },
      { "X-Key": "k" },
    );
  });
  afterEach(async () => {
    for (const client of clients) client.terminate();
    await listener.close(AbortSignal.abort());
  });

  function dial(headers: Record<string, string> = { authorization: "Bearer x" }, protocols: string[] = []): WebSocket {
    const client = new WebSocket(`ws://127.0.0.1:${listener.port}${PATH}`, protocols, { headers });
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  }

  async function open(): Promise<WebSocket> {
    const before = openedSockets;
    const client = dial();
    await once(client, "open");
    await eventually(() => openedSockets > before);
    return client;
  }

  /** Close code and reason that the client receives. */
  const closeOf = async (client: WebSocket): Promise<[number, string]> => {
    const [code, reason] = (await once(client, "close")) as [number, Buffer];
    return [code, reason.toString()];
  };

  describe(`sockets, by ${choice.transport}`, () => {
    it("open with the headers and the first subprotocol", async () => {
      const client = dial(undefined, ["a.v1", "b.v1"]);
      const opened = once(client, "open");
      const [response] = (await once(client, "upgrade")) as [{ headers: Record<string, string> }];
      expect(response.headers).toMatchObject({ "x-own": "yes", "sec-websocket-protocol": "a.v1" });
      await opened;
      expect(client.protocol).toBe("a.v1");
    });

    it("are refused with the handler's error and the route's headers", async () => {
      const client = dial({});
      const [, response] = (await once(client, "unexpected-response")) as [
        unknown,
        NodeJS.ReadableStream & { statusCode: number; headers: Record<string, string> },
      ];
      expect([response.statusCode, response.headers["x-key"]]).toEqual([401, "k"]);
      let body = "";
      for await (const chunk of response) body += String(chunk);
      expect(JSON.parse(body)).toEqual({ error: { message: "Who are you?", code: "unauthenticated" } });
    });

    it("are refused if the handshake has another version", async () => {
      const headers = { authorization: "Bearer x", "sec-websocket-version": "7" };
      const client = new WebSocket(`ws://127.0.0.1:${listener.port}${PATH}`, {
        headers,
        finishRequest: (request) => {
          request.setHeader("Sec-WebSocket-Version", "7");
          request.end();
        },
      });
      clients.push(client);
      client.on("error", () => undefined);
      const [, response] = (await once(client, "unexpected-response")) as [unknown, { statusCode: number }];
      expect(response.statusCode).toBe(400);
    });

    it("carry frames unchanged and in order, both ways, up to the limit", async () => {
      const client = await open();
      const echoed: Buffer[] = [];
      client.on("message", (data) => echoed.push(data as Buffer));
      const sizes = [1, 125, 126, 65_535, 65_536, MAX_FRAME_BYTES];
      for (const [index, size] of sizes.entries()) client.send(Buffer.alloc(size, index));
      await eventually(() => frames.length === sizes.length);
      expect(frames.map(({ length }) => length)).toEqual(sizes);
      for (const frame of frames) server.send(frame, "tick");
      expect(server.bufferedBytes).toBeGreaterThan(0);
      await eventually(() => echoed.length === sizes.length);
      expect(echoed.every((frame, index) => frame.length === sizes[index] && frame.at(-1) === index)).toBe(true);
      expect(server.bufferedBytes).toBe(0);
    });

    it("report which frames are text, and pass pings and pongs on", async () => {
      const client = await open();
      const pinged = once(client, "ping");
      server.ping();
      await pinged;
      client.send("text");
      client.ping();
      await once(client, "pong");
      await eventually(() => ["ping", "pong", "text"].every((event) => events.includes(event)));
    });

    it("close with 1009 for a larger frame", async () => {
      const client = await open();
      const closed = closeOf(client);
      client.send(Buffer.alloc(MAX_FRAME_BYTES + 1));
      expect((await closed)[0]).toBe(1009);
      await server.closed;
      expect([server.isOpen, frames.length]).toEqual([false, 0]);
    });

    it("close with code and reason, after all sent frames", async () => {
      const client = await open();
      const closed = closeOf(client);
      const received = once(client, "message");
      server.send(Buffer.from("last"), "tick");
      server.close(1008, "enough");
      expect(server.isOpen).toBe(false);
      expect(String((await received)[0])).toBe("last");
      expect(await closed).toEqual([1008, "enough"]);
      await server.closed;
      expect(events.filter((event) => event.startsWith("close"))).toHaveLength(1);
    });

    it("report the client's code, and 1006 for a client that vanished", async () => {
      (await open()).close(4_001);
      await eventually(() => events.includes("close 4001"));
      (await open()).terminate();
      await eventually(() => events.includes("close 1006"));
    });

    it("can be cut", async () => {
      const client = await open();
      server.terminate();
      expect((await closeOf(client))[0]).toBe(1006);
      await server.closed;
    });

    it("deliver no frame while they are paused, and lose none, with the close after them", async () => {
      const client = await open();
      server.pause();
      for (let index = 0; index < 100; index += 1) client.send(Buffer.alloc(1_000, index));
      client.close(4_002);
      await new Promise((resolve) => setTimeout(resolve, 20));
      // Frames of the last read may still arrive.
      expect(frames.length).toBeLessThan(100);
      expect(events).not.toContain("close 4002");
      server.resume();
      await server.closed;
      expect(frames.map((frame) => frame[0])).toEqual(Array.from({ length: 100 }, (_, index) => index));
      expect(events.at(-1)).toBe("close 4002");
    });

    it("send frames written in one tick together, even from the handler of another socket", async () => {
      const [first, second] = [await open(), server];
      await open();
      const other = server;
      const received: string[] = [];
      first.on("message", (data) => received.push((data as Buffer).toString()));
      other.attach({
        ...note,
        onMessage: () => ["a", "b", "c"].forEach((text) => second.send(Buffer.from(text), "tick")),
      });
      clients.at(-1)?.send(Buffer.from("go"));
      await eventually(() => received.length === 3);
      expect(received).toEqual(["a", "b", "c"]);
    });

    it("stay open while responses finish, and are cut at the deadline of close()", async () => {
      const client = await open();
      await listener.finishResponses(AbortSignal.abort());
      expect(server.isOpen).toBe(true);
      const closed = closeOf(client);
      await listener.close(AbortSignal.abort());
      expect((await closed)[0]).toBe(1006);
    });
  });
}
