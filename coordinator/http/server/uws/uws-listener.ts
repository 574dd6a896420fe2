import { once } from "node:events";
import { createServer } from "node:net";
import { systemClock, type Timer } from "../../../../shared/clock.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import type { AcceptedUpgrade } from "../../../islands/session-socket.ts";
import { transportErrorResponse, type ErrorResponse } from "../../error-responses.ts";
import { refuseHost } from "../host-check.ts";
import { refusal, refuseExpectation, serveWith, shuttingDown } from "../protocol-refusals.ts";
import {
  REQUEST_TIMEOUT_MS,
  STALLED_MS,
  waitUntil,
  type FetchHandler,
  type Listener,
  type ListenOptions,
  type UpgradeRoute,
} from "../transport.ts";
import { cutVanishedClients, linuxPeerFacts } from "../vanished-clients.ts";
import { loadUws, type UwsRequest, type UwsResponse, type UwsWebSocket } from "./load-uws.ts";
import { TickFlush } from "./tick-flush.ts";
import { UwsExchange } from "./uws-exchange.ts";
import { MAX_PAYLOAD_BYTES, UwsSocket } from "./uws-socket.ts";

/** Interval at which the time limit of the library, about 10 s, is restarted for connections that may wait longer. */
const KEEP_OPEN_EVERY_MS = 3_000;
/** Time that clients have to close their side of a WebSocket before all connections close. */
const LINGER_MS = 200;
/** Supported WebSocket versions: RFC 6455 and its last draft. */
const WEBSOCKET_VERSIONS = new Set(["13", "8"]);

export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const { host, publicUrl = null, stalledMs = STALLED_MS, clock = systemClock } = options;
  const uws = loadUws(options.transportModule ?? "uWebSockets.js");
  const app = uws.App();
  const serve = serveWith(fetch);
  const ticks = new TickFlush();
  const exchanges = new Set<UwsExchange>();
  const sockets = new Set<UwsSocket>();
  const routes = new Map<string, UpgradeRoute>();
  /** Functions that are called when the next response or socket ends. */
  let waiters: (() => void)[] = [];
  let socketEndedMs = -Infinity;
  let listenSocket: object | null = null;
  let port = 0;
  let isClosing = false;
  let keepOpenTimer = scheduleKeepOpen();
  const stopWatch = cutVanishedClients(
    clock,
    linuxPeerFacts((exchange: UwsExchange) => exchange.peerKey(port)),
    () => exchanges,
  );

  function scheduleKeepOpen(): Timer {
    return clock.schedule(KEEP_OPEN_EVERY_MS, () => {
      for (const exchange of exchanges) check(exchange);
      keepOpenTimer = scheduleKeepOpen();
    });
  }

  /** Cuts the client of an exchange if it is too slow; otherwise keeps the library from cutting it. */
  function check(exchange: UwsExchange): void {
    const { outgoing, incoming } = exchange;
    const nowMs = clock.monotonicMs();
    if (outgoing.blockedSinceMs !== null && nowMs - outgoing.blockedSinceMs >= stalledMs) return exchange.destroy();
    if (!incoming.complete && nowMs - exchange.startedMs >= REQUEST_TIMEOUT_MS) return exchange.destroy();
    if (!incoming.isPaused && (!incoming.complete || outgoing.mayBeHeld)) outgoing.keepOpen();
  }

  function wakeWaiters(): void {
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  }

  async function untilEnded(deadline: AbortSignal, waited: readonly ReadonlySet<{ destroy(): void }>[]): Promise<void> {
    const ended = async (): Promise<void> => {
      while (waited.some(({ size }) => size > 0)) {
        await new Promise<void>((resolve) => {
          waiters.push(resolve);
        });
      }
    };
    await waitUntil(ended(), deadline, () => {
      for (const each of waited.flatMap((set) => [...set])) each.destroy();
    });
  }

  function stopAccepting(): void {
    isClosing = true;
    stopWatch();
    for (const { outgoing } of exchanges) outgoing.isLast = true;
    if (listenSocket !== null) uws.us_listen_socket_close(listenSocket);
    listenSocket = null;
  }

  async function close(deadline: AbortSignal): Promise<void> {
    stopAccepting();
    await untilEnded(deadline, [exchanges, sockets]);
    const lingerMs = socketEndedMs + LINGER_MS - clock.monotonicMs();
    if (lingerMs > 0) await clock.sleep(lingerMs);
    keepOpenTimer.cancel();
    app.close();
  }

  /** Handles a request. @param context Set only if the library has recognised an upgrade. */
  function handle(response: UwsResponse, request: UwsRequest, context?: unknown): void {
    const exchange = new UwsExchange(response, request, ticks, clock);
    const { incoming, outgoing } = exchange;
    // The library checks only the first Connection header.
    outgoing.isLast = isClosing || /\bclose\b/i.test(incoming.headers["connection"] ?? "");
    exchanges.add(exchange);
    outgoing.once("close", () => {
      exchanges.delete(exchange);
      wakeWaiters();
    });
    if (incoming.hasTwoLengths)
      return refuse(exchange, refusal(400, "The request has two different Content-Length headers. Send one"));
    const node = exchange.asNode();
    const refused = refuseHost(node.incoming, publicUrl);
    if (refused !== null) return refuse(exchange, refused);
    const route = incoming.headers["upgrade"] === undefined ? undefined : routes.get(request.getUrl());
    if (route !== undefined) return void upgrade(exchange, route, context);
    const { expect } = incoming.headers;
    if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
      outgoing.isLast = true;
      refuseExpectation(node.incoming, node.outgoing);
    } else serve(node.incoming, node.outgoing);
  }

  async function upgrade(
    exchange: UwsExchange,
    { handler, refusalHeaders }: UpgradeRoute,
    context: unknown,
  ): Promise<void> {
    const { outgoing, incoming } = exchange;
    try {
      if (isClosing) throw shuttingDown();
      const accepted = await handler(exchange.asNode().incoming);
      if (outgoing.destroyed) return accepted.release();
      const version = incoming.headers["sec-websocket-version"] ?? "";
      const isWebSocket = context !== undefined && incoming.headers["upgrade"]?.toLowerCase() === "websocket";
      if (isWebSocket && WEBSOCKET_VERSIONS.has(version)) return openSocket(exchange, accepted, context);
      accepted.release();
      outgoing.setHeader("Sec-WebSocket-Version", [...WEBSOCKET_VERSIONS].join(", "));
      throw new ServiceError(
        "bad_request",
        "Invalid WebSocket handshake. Send one as in RFC 6455, with Sec-WebSocket-Version 13",
      );
    } catch (thrown) {
      if (outgoing.destroyed) return;
      if (!(thrown instanceof ServiceError)) return void outgoing.destroy();
      const { status, headers, body } = transportErrorResponse(thrown);
      refuse(exchange, { status, body, headers: { ...headers, ...refusalHeaders } });
    }
  }

  function openSocket(exchange: UwsExchange, accepted: AcceptedUpgrade, context: unknown): void {
    const { headers } = exchange.incoming;
    const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
    const protocol = accepted.chooseProtocol(offered.filter((name) => name !== ""));
    const socket = new UwsSocket(ticks);
    sockets.add(socket);
    void socket.closed.then(() => {
      sockets.delete(socket);
      socketEndedMs = clock.monotonicMs();
      accepted.release();
      wakeWaiters();
    });
    exchange.upgrade((response) => {
      response.writeStatus("101 Switching Protocols");
      for (const [name, value] of Object.entries(accepted.headers)) response.writeHeader(name, value);
      response.upgrade({ socket }, headers["sec-websocket-key"] ?? "", protocol ?? "", "", context);
    });
    accepted.open(socket, protocol);
  }

  app.any("/*", (response, request) => handle(response, request));
  await new Promise<void>((resolve, reject) => {
    app.listen(host, options.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (opened) => {
      if (opened === false) {
        void close(AbortSignal.abort());
        listenError(host, options.port).then(reject, reject);
        return;
      }
      listenSocket = opened;
      port = uws.us_socket_local_port(opened);
      resolve();
    });
  });
  return {
    port,
    address: host,
    onUpgrade(path, handler, refusalHeaders = {}) {
      routes.set(path, { handler, refusalHeaders });
      const socketOf = (ws: UwsWebSocket): UwsSocket => (ws.getUserData() as { readonly socket: UwsSocket }).socket;
      app.ws(path, {
        maxPayloadLength: MAX_PAYLOAD_BYTES,
        // The session of the Island checks buffered bytes and silence itself, and sends pings.
        maxBackpressure: 0,
        idleTimeout: 0,
        sendPingsAutomatically: false,
        upgrade: handle,
        open: (ws) => socketOf(ws).opened(ws),
        message: (ws, message, isBinary) => socketOf(ws).received(message, isBinary),
        ping: (ws) => socketOf(ws).pinged(),
        pong: (ws) => socketOf(ws).ponged(),
        close: (ws, code) => socketOf(ws).libraryClosed(code),
      });
    },
    async finishResponses(deadline) {
      stopAccepting();
      await untilEnded(deadline, [exchanges]);
    },
    close,
  };
}

/** Returns Node's error for listening at this address: the library does not report why it cannot listen. */
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
