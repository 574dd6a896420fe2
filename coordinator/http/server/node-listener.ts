import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Clock, systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { errorResponse } from "../error-responses.ts";
import { endWith, refuseExpectation, refuseUnparsed, serveWith } from "./protocol-refusals.ts";
import { nodeSockets } from "./node-sockets.ts";
import { linuxConnectionFacts, VanishedClients } from "./vanished-clients.ts";
import {
  type FetchHandler,
  type Listener,
  type ListenOptions,
  REQUEST_TIMEOUT_MS,
  STALLED_MS,
  type UpgradeHandler,
  type UpgradeRoute,
} from "./transport.ts";

const HEADERS_TIMEOUT_MS = 20_000;
/** Longer than the usual idle limit of a proxy, so that the proxy closes an idle connection first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * Idle time before the first TCP keep-alive probe; the system then sends ten, one a second. The total is shorter than
 * the heartbeat interval of a stream.
 */
const TCP_KEEP_ALIVE_MS = 4_000;

/**
 * Listens with node:http.
 * @throws when the address is in use or does not belong to this machine.
 */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const { host, port, stalledMs = STALLED_MS, clock = systemClock } = options;
  const handlers = new Map<string, UpgradeRoute>();
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      noDelay: true,
      // Node 24.9 and later; for earlier ones see `serveWithoutUpgrade`.
      shouldUpgradeCallback: (request) => handlers.has(pathOf(request)),
      // `refuseRequest` checks it, with our error body.
      requireHostHeader: false,
    },
    serveWith(fetch),
  );
  server.timeout = stalledMs;
  const listener = new NodeListener(server, handlers, clock);
  server.listen(port, host);
  await once(server, "listening");
  return listener;
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? "").split("?", 1)[0] ?? "";
}

class NodeListener implements Listener {
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  readonly #openSocket = nodeSockets();
  readonly #handlers: Map<string, UpgradeRoute>;
  readonly #responses = new Set<ServerResponse>();
  readonly #vanished: VanishedClients<Socket> | null;
  #closed: Promise<unknown> | null = null;

  constructor(server: Server, handlers: Map<string, UpgradeRoute>, clock: Clock) {
    const facts = linuxConnectionFacts();
    this.#vanished = facts === null ? null : new VanishedClients(clock, facts, () => this.#waitingSockets());
    this.#server = server;
    this.#handlers = handlers;
    server.on("clientError", (error, socket) => refuseUnparsed(error, socket, this.#hasResponse(socket)));
    server.on("checkExpectation", refuseExpectation);
    server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    // Runs before the API's listener, which may write its headers at once.
    server.prependListener("request", (_request, response: ServerResponse) => this.#watch(response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return (this.#server.address() as AddressInfo).address;
  }

  onUpgrade(path: string, handler: UpgradeHandler, refusalHeaders: Readonly<Record<string, string>> = {}): void {
    this.#handlers.set(path, { handler, refusalHeaders });
  }

  async finishResponses(deadline: AbortSignal): Promise<void> {
    void this.#stopAccepting();
    const cutOff = (): void => this.#server.closeAllConnections();
    if (deadline.aborted) cutOff();
    deadline.addEventListener("abort", cutOff);
    while (this.#responses.size > 0) await Promise.all([...this.#responses].map((response) => once(response, "close")));
    deadline.removeEventListener("abort", cutOff);
  }

  async close(deadline: AbortSignal): Promise<void> {
    const closed = this.#stopAccepting();
    const cutOff = (): void => {
      this.#server.closeAllConnections();
      for (const socket of this.#upgraded) socket.destroy();
    };
    if (deadline.aborted) cutOff();
    deadline.addEventListener("abort", cutOff);
    await closed;
    deadline.removeEventListener("abort", cutOff);
  }

  #stopAccepting(): Promise<unknown> {
    if (this.#closed === null) {
      this.#closed = once(this.#server, "close");
      this.#vanished?.close();
      this.#server.close();
      this.#server.closeIdleConnections();
    }
    return this.#closed;
  }

  /** While the listener closes, ends keep-alive with the response, because an idle connection would delay `close`. */
  #watch(response: ServerResponse): void {
    if (this.#closed !== null) response.shouldKeepAlive = false;
    this.#responses.add(response);
    // Node counts a partial write as activity. Without this listener, Node would also close the socket of a response
    // with nothing to send.
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    response.once("close", () => {
      this.#responses.delete(response);
      if (this.#closed !== null) this.#server.closeIdleConnections();
    });
  }

  #waitingSockets(): Socket[] {
    return [...this.#responses].flatMap(({ socket }) => socket ?? []);
  }

  #hasResponse(socket: Duplex): boolean {
    return [...this.#responses].some((response) => response.socket === socket && response.headersSent);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const route = this.#handlers.get(pathOf(request));
    if (route === undefined) {
      serveWithoutUpgrade(this.#server, request, socket, head);
      return;
    }
    this.#upgraded.add(socket);
    socket.once("close", () => this.#upgraded.delete(socket));
    // The handler adds its own listener later; until then an error must not end the process.
    socket.on("error", () => socket.destroy());
    const refuse = (error: unknown): void => refuseUpgrade(socket, error, route.refusalHeaders);
    if (this.#closed !== null) {
      refuse(new ServiceError("shutting_down", "The coordinator is shutting down; try again in a moment"));
      return;
    }
    route
      .handler(request)
      .then((accepted) => this.#openSocket(request, socket, head, accepted))
      .catch(refuse);
  }
}

/** Request headers that offer another protocol; without them the request is a plain one. */
const UPGRADE_HEADERS = new Set(["upgrade", "http2-settings"]);

/**
 * Sends an error response to a refused upgrade, with `headers` added. `thrown` is the error of the upgrade handler. For
 * anything but a ServiceError, closes the socket without a response.
 */
function refuseUpgrade(socket: Duplex, thrown: unknown, headers: Readonly<Record<string, string>>): void {
  if (!(thrown instanceof ServiceError)) {
    socket.destroy();
    return;
  }
  const response = errorResponse(thrown, { requestId: "", style: "plain" });
  endWith(socket, { ...response, headers: { ...response.headers, ...headers } });
}

/**
 * Serves a request that offers an upgrade as if it did not. Node before 24.9 does not support `shouldUpgradeCallback`
 * and emits "upgrade" for each such request, with its body unread. Therefore this function writes the request without
 * the offer back into its socket and gives the socket to the server as a new connection.
 */
export function serveWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
