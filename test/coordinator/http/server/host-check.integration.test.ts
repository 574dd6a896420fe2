import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { once } from "node:events";
import { connect } from "node:net";
import { listen, type Listener } from "../../../../coordinator/http/server/transport.ts";
import { acceptUpgrade } from "../../../support/servers/accept-upgrade.ts";
import { TEST_LISTEN } from "../../../support/transport.ts";
import { Api, readToEnd } from "../api.ts";

const SESSION = "/api/v1/island/session";
const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
const IS_UWS = TEST_LISTEN.transport === "uws";
const KEY_HEADER = { "X-Key": "k" };

/** A listener that counts what reaches the API. */
class Server {
  reached = 0;
  readonly listener: Listener;

  private constructor(listener: Listener) {
    this.listener = listener;
    listener.onUpgrade(
      SESSION,
      async () => {
        this.reached += 1;
        return acceptUpgrade((socket) => socket.terminate());
      },
      KEY_HEADER,
    );
  }

  static async open(publicUrl?: string | null): Promise<Server> {
    const fetch = (): Response => {
      server.reached += 1;
      return new Response("ok");
    };
    const options = publicUrl === undefined ? TEST_LISTEN : { ...TEST_LISTEN, publicUrl };
    const server: Server = new Server(await listen(fetch, options));
    return server;
  }

  /** Sends a request on a raw socket, and returns the whole response. */
  async send(...lines: string[]): Promise<string> {
    const socket = connect(this.listener.port, "127.0.0.1");
    socket.on("error", () => undefined);
    const response = readToEnd(socket);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    return response;
  }

  get(...hosts: string[]): Promise<string> {
    return this.send("GET / HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "Connection: close");
  }

  upgrade(...hosts: string[]): Promise<string> {
    return this.send(`GET ${SESSION} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), ...UPGRADE);
  }

  close(): Promise<void> {
    return this.listener.close(AbortSignal.abort());
  }
}

let server: Server;
beforeEach(async () => {
  server = await Server.open();
});
afterEach(() => server.close());

const ADDRESSES = ["127.0.0.1", "192.0.2.7:8080", "[::1]", "[::1]:8080", "[2001:db8::7]:80"];
const LOCALHOSTS = ["localhost", "LocalHost:8080", "atoll.localhost", "atoll.localhost:8080"];
/** Names that a page can let point to 127.0.0.1 (DNS rebinding), and names of a machine in its network. */
const NAMES = [
  "evil.example",
  "evil.example:8080",
  "127.0.0.1.evil.example",
  "127.0.0.1.evil.example:8080",
  "localhost.evil.example",
  "evillocalhost",
  "mybox",
  "mybox.local:8080",
  "2130706433",
  "::1",
];

describe("the Host of a request without public_url", () => {
  it.each([...ADDRESSES, ...LOCALHOSTS])("may be %s", async (host) => {
    expect(await server.get(host)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await server.upgrade(host)).toMatch(/^HTTP\/1\.1 101 /);
    expect(server.reached).toBe(2);
  });

  it.each(NAMES)("may not be %s", async (host) => {
    const message = `This coordinator is not reachable at "${host}": without the setting public_url, it answers only to IP addresses and localhost. Use one of these, or set public_url on the coordinator`;
    for (const response of [await server.get(host), await server.upgrade(host)]) {
      expect(response).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/);
      expect(response).not.toContain("X-Key");
      expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n")))).toEqual({
        error: { code: "bad_request", message },
      });
    }
    expect(server.reached).toBe(0);
  });

  it("is checked if an upgrade is ignored, and if the request has a body", async () => {
    const ignored = await server.send("GET /x HTTP/1.1", "Host: evil.example", "Connection: Upgrade", "Upgrade: h2c");
    const posted = await server.send("POST / HTTP/1.1", "Host: evil.example", "Content-Length: 2", "", "{}");
    for (const response of [ignored, posted]) expect(response).toMatch(/^HTTP\/1\.1 421 /);
    expect(server.reached).toBe(0);
  });
});

describe("the Host of a request with public_url", () => {
  it("may be any name", async () => {
    await server.close();
    server = await Server.open("https://atoll.example");
    expect(await server.get("coordinator:8080")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await server.upgrade("coordinator:8080")).toMatch(/^HTTP\/1\.1 101 /);
  });
});

describe("a request with two Host headers", () => {
  it.each([null, "https://atoll.example"])(
    "is refused with public_url %j (RFC 9112, section 3.2)",
    async (publicUrl) => {
      await server.close();
      server = await Server.open(publicUrl);
      for (const second of ["127.0.0.1", "evil.example"]) {
        const responses = [await server.get("127.0.0.1", second), await server.upgrade("127.0.0.1", second)];
        for (const response of responses) {
          expect(response).toMatch(/^HTTP\/1\.1 400 /);
          // uWebSockets.js refuses the request itself, without our body.
          if (!IS_UWS) expect(response).toContain("The request has more than one Host header. Send one");
        }
      }
      expect(server.reached).toBe(0);
    },
  );
});

describe("the API without public_url", () => {
  it.each(["/", "/docs", "/api/v1/health", "/api/v1/cargos", "/v1/models", "/nowhere"])(
    "does not serve %s to a page of another host",
    async (path) => {
      await using api = await Api.open();
      const response = await readToEnd(await api.raw(`GET ${path} HTTP/1.1`, "Host: evil.example"));
      expect(response).toMatch(/^HTTP\/1\.1 421 /);
    },
  );

  it("serves a WebSocket client that uses localhost", async () => {
    const client = new WebSocket(`ws://localhost:${server.listener.port}${SESSION}`);
    client.on("error", () => undefined);
    const [response] = (await once(client, "upgrade")) as [{ statusCode: number }];
    expect(response.statusCode).toBe(101);
  });
});
