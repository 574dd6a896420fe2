import { once } from "node:events";
import { createServer, request as requestOf, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Headers that apply to one connection. The balancer has a separate connection to each side. */
const HOP_BY_HOP = new Set(["connection", "keep-alive"]);

/** A load balancer that passes each request and WebSocket to the next server, even on one connection of a client. */
export class RoundRobin implements AsyncDisposable {
  readonly #server: Server;
  readonly #ports: () => readonly number[];
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(ports: () => readonly number[]) {
    this.#ports = ports;
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => this.#pass(request, response));
    // Passes `Expect: 100-continue` on, so that the client gets the coordinator's response.
    this.#server.on("checkContinue", (request, response) => this.#pass(request, response));
    this.#server.on("upgrade", (request, socket, head) => this.#relay(request, socket, head));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** `ports` returns the ports of running servers, and is called for each request. */
  static async open(ports: () => readonly number[]): Promise<RoundRobin> {
    const balancer = new RoundRobin(ports);
    balancer.#server.listen(0, "127.0.0.1");
    await once(balancer.#server, "listening");
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #nextPort(): number {
    const ports = this.#ports();
    this.#turn += 1;
    const port = ports[this.#turn % Math.max(1, ports.length)];
    if (port === undefined) throw new Error("No coordinator is up");
    return port;
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = "GET", url = "/" } = request;
    const headers = withoutHopByHop(request.rawHeaders);
    const target = { host: "127.0.0.1", port: this.#nextPort(), agent: false };
    const onward = requestOf({ ...target, method, path: url, headers: headers as readonly string[] });
    onward.on("response", (upstream) => {
      response.sendDate = false;
      response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage, withoutHopByHop(upstream.rawHeaders));
      response.flushHeaders();
      upstream.pipe(response);
      upstream.once("error", () => response.destroy());
    });
    onward.on("continue", () => response.writeContinue());
    onward.on("error", () => response.destroy());
    response.once("close", () => onward.destroy());
    request.pipe(onward);
  }

  #relay({ method, url, rawHeaders }: IncomingMessage, near: Duplex, head: Buffer): void {
    const far = connect({ port: this.#nextPort(), host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let index = 0; index < rawHeaders.length; index += 2)
      lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
    far.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    far.write(head);
    near.pipe(far);
    far.pipe(near);
    // Forwards data before the end, because the last frame contains the reason why a session closes.
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      // Data that was read before a reset is still forwarded.
      from.once("error", () => to.end());
      from.once("close", () => to.end());
    }
  }
}

function withoutHopByHop(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => !HOP_BY_HOP.has((rawHeaders[index - (index % 2)] ?? "").toLowerCase()));
}
