import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { systemClock, type Clock, type Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import type { AcceptedUpgrade } from "../../../islands/session-socket.ts";
import { errorResponse, type ErrorResponse } from "../../error-responses.ts";
import { refusal, refuseExpectation, serveWith } from "../protocol-refusals.ts";
import {
  REQUEST_TIMEOUT_MS,
  STALLED_MS,
  type FetchHandler,
  type Listener,
  type ListenOptions,
  type UpgradeHandler,
  type UpgradeRoute,
} from "../transport.ts";
import { linuxPeerFacts, VanishedClients } from "../vanished-clients.ts";
import { loadUws, type Uws, type UwsApp, type UwsRequest, type UwsResponse, type UwsWebSocket } from "./load-uws.ts";
import { TickFlush } from "./tick-flush.ts";
import { UwsExchange } from "./uws-exchange.ts";
import { MAX_PAYLOAD_BYTES, UwsSocket } from "./uws-socket.ts";

/**
 * Interval at which the listener restarts the library's time limit, about 10 s, for connections that may wait longer.
 */
const KEEP_OPEN_EVERY_MS = 3_000;
/** Time for clients to close their side of a WebSocket before all connections close. */
const LINGER_MS = 200;
/** Supported versions: RFC 6455 and its last draft. */
const WEBSOCKET_VERSIONS = new Set(["13", "8"]);

/** @throws when the address is in use or not one of this machine, or the library is missing. */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const listener = new UwsListener(loadUws(options.transportModule ?? "uWebSockets.js"), fetch, options);
  await listener.listen(options);
  return listener;
}

class UwsListener implements Listener {
  readonly address: string;
  readonly #uws: Uws;
  readonly #app: UwsApp;
  readonly #serve: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly #clock: Clock;
  readonly #stalledMs: number;
  readonly #ticks = new TickFlush();
  readonly #open = new Set<UwsExchange>();
  readonly #sockets = new Set<UwsSocket>();
  readonly #routes = new Map<string, UpgradeRoute>();
  readonly #vanished: VanishedClients<UwsExchange> | null;
  /** Called when the next response or socket ends. */
  #waiters: (() => void)[] = [];
  #socketEndedMs = -Infinity;
  #listenSocket: object | null = null;
  #port = 0;
  #isClosing = false;
  #keepOpenTimer: Timer;

  constructor(uws: Uws, fetch: FetchHandler, { host, stalledMs = STALLED_MS, clock = systemClock }: ListenOptions) {
    this.address = host;
    this.#uws = uws;
    this.#clock = clock;
    this.#stalledMs = stalledMs;
    this.#serve = serveWith(fetch);
    this.#app = uws.App();
    this.#app.any("/*", (response, request) => this.#handle(response, request));
    const facts = linuxPeerFacts((exchange: UwsExchange) => exchange.peerKey(this.#port));
    this.#vanished = facts === null ? null : new VanishedClients(clock, facts, () => this.#open);
    this.#keepOpenTimer = this.#scheduleKeepOpen();
  }

  get port(): number {
    return this.#port;
  }

  listen({ host, port }: ListenOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, this.#uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (listenSocket) => {
        if (listenSocket === false) {
          void this.close(AbortSignal.abort());
          listenError(host, port).then(reject, reject);
          return;
        }
        this.#listenSocket = listenSocket;
        this.#port = this.#uws.us_socket_local_port(listenSocket);
        resolve();
      });
    });
  }

  onUpgrade(path: string, handler: UpgradeHandler, refusalHeaders: Readonly<Record<string, string>> = {}): void {
    this.#routes.set(path, { handler, refusalHeaders });
    const socketOf = (ws: UwsWebSocket): UwsSocket => (ws.getUserData() as { readonly socket: UwsSocket }).socket;
    this.#app.ws(path, {
      maxPayloadLength: MAX_PAYLOAD_BYTES,
      // The session itself checks the buffered bytes and the silence, and sends pings.
      maxBackpressure: 0,
      idleTimeout: 0,
      sendPingsAutomatically: false,
      upgrade: (response, request, context) => this.#handle(response, request, context),
      open: (ws) => socketOf(ws).opened(ws),
      message: (ws, message, isBinary) => socketOf(ws).received(message, isBinary),
      ping: (ws) => socketOf(ws).pinged(),
      pong: (ws) => socketOf(ws).ponged(),
      close: (ws, code) => socketOf(ws).libraryClosed(code),
    });
  }

  async finishResponses(deadline: AbortSignal): Promise<void> {
    this.#stopAccepting();
    await this.#until(deadline, [this.#open]);
  }

  async close(deadline: AbortSignal): Promise<void> {
    this.#stopAccepting();
    await this.#until(deadline, [this.#open, this.#sockets]);
    const lingerMs = this.#socketEndedMs + LINGER_MS - this.#clock.monotonicMs();
    if (lingerMs > 0) await this.#clock.sleep(lingerMs);
    this.#keepOpenTimer.cancel();
    this.#app.close();
  }

  #stopAccepting(): void {
    this.#isClosing = true;
    this.#vanished?.close();
    for (const exchange of this.#open) exchange.outgoing.isLast = true;
    if (this.#listenSocket !== null) this.#uws.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
  }

  /** Waits until all of `waited` have ended. Cuts the remaining ones when `deadline` aborts. */
  async #until(deadline: AbortSignal, waited: readonly ReadonlySet<{ destroy(): void }>[]): Promise<void> {
    const cutOff = (): void => {
      for (const each of waited.flatMap((set) => [...set])) each.destroy();
    };
    if (deadline.aborted) cutOff();
    deadline.addEventListener("abort", cutOff);
    while (waited.some(({ size }) => size > 0)) {
      await new Promise<void>((resolve) => {
        this.#waiters.push(resolve);
      });
    }
    deadline.removeEventListener("abort", cutOff);
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake();
  }

  /** @param context Set for an upgrade that the library has recognised. */
  #handle(response: UwsResponse, request: UwsRequest, context?: unknown): void {
    const exchange = new UwsExchange(response, request, this.#ticks, this.#clock);
    const { incoming, outgoing } = exchange;
    // The library checks only the first Connection header.
    outgoing.isLast = this.#isClosing || /\bclose\b/i.test(incoming.headers["connection"] ?? "");
    this.#open.add(exchange);
    outgoing.once("close", () => {
      this.#open.delete(exchange);
      this.#wakeWaiters();
    });
    if (incoming.hasTwoLengths)
      return refuse(exchange, refusal(400, "The request has two different Content-Length headers; send one"));
    const route = incoming.headers["upgrade"] === undefined ? undefined : this.#routes.get(request.getUrl());
    if (route !== undefined) return void this.#upgrade(exchange, route, context);
    const node = exchange.asNode();
    const { expect } = incoming.headers;
    if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
      outgoing.isLast = true;
      refuseExpectation(node.incoming, node.outgoing);
    } else this.#serve(node.incoming, node.outgoing);
  }

  async #upgrade(exchange: UwsExchange, { handler, refusalHeaders }: UpgradeRoute, context: unknown): Promise<void> {
    const { outgoing, incoming } = exchange;
    try {
      if (this.#isClosing) {
        throw new ServiceError("shutting_down", "The coordinator is shutting down; try again in a moment");
      }
      const accepted = await handler(exchange.asNode().incoming);
      if (outgoing.destroyed) return accepted.release();
      const version = incoming.headers["sec-websocket-version"] ?? "";
      const isWebSocket = context !== undefined && incoming.headers["upgrade"]?.toLowerCase() === "websocket";
      if (isWebSocket && WEBSOCKET_VERSIONS.has(version)) return this.#openSocket(exchange, accepted, context);
      accepted.release();
      outgoing.setHeader("Sec-WebSocket-Version", [...WEBSOCKET_VERSIONS].join(", "));
      throw new ServiceError(
        "bad_request",
        "Invalid WebSocket handshake; send one as in RFC 6455, with Sec-WebSocket-Version 13",
      );
    } catch (thrown) {
      if (outgoing.destroyed) return;
      if (!(thrown instanceof ServiceError)) return void outgoing.destroy();
      const { status, headers, body } = errorResponse(thrown, { requestId: "", style: "plain" });
      refuse(exchange, { status, body, headers: { ...headers, ...refusalHeaders } });
    }
  }

  #openSocket(exchange: UwsExchange, accepted: AcceptedUpgrade, context: unknown): void {
    const { headers } = exchange.incoming;
    const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    const protocol = accepted.chooseProtocol(offered.filter((name) => name !== ""));
    const socket = new UwsSocket(this.#ticks);
    this.#sockets.add(socket);
    void socket.closed.then(() => {
      this.#sockets.delete(socket);
      this.#socketEndedMs = this.#clock.monotonicMs();
      accepted.release();
      this.#wakeWaiters();
    });
    exchange.upgrade((response) => {
      response.writeStatus("101 Switching Protocols");
      for (const [name, value] of Object.entries(accepted.headers)) response.writeHeader(name, value);
      response.upgrade({ socket }, headers["sec-websocket-key"] ?? "", protocol ?? "", "", context);
    });
    accepted.open(socket, protocol);
  }

  #scheduleKeepOpen(): Timer {
    return this.#clock.schedule(KEEP_OPEN_EVERY_MS, () => {
      for (const exchange of this.#open) this.#check(exchange);
      this.#keepOpenTimer = this.#scheduleKeepOpen();
    });
  }

  /** Cuts a client that is too slow, and keeps the library from cutting the others. */
  #check(exchange: UwsExchange): void {
    const { outgoing, incoming } = exchange;
    const nowMs = this.#clock.monotonicMs();
    if (outgoing.blockedSinceMs !== null && nowMs - outgoing.blockedSinceMs >= this.#stalledMs) return exchange.destroy();
    if (!incoming.complete && nowMs - exchange.startedMs >= REQUEST_TIMEOUT_MS) return exchange.destroy();
    if (!incoming.isPaused && (!incoming.complete || outgoing.mayBeHeld)) outgoing.keepOpen();
  }
}

/** Returns the error that Node.js gives for this address, because the library does not report why it cannot listen. */
async function listenError(host: string, port: number): Promise<Error> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  server.close();
  return new Error(`uWebSockets.js cannot listen on ${host}, port ${port}`);
}

function refuse({ outgoing }: UwsExchange, { status, headers, body }: ErrorResponse): void {
  outgoing.isLast = true;
  outgoing.writeHead(status, { ...headers, "Content-Type": "application/json" });
  outgoing.end(JSON.stringify(body));
}
