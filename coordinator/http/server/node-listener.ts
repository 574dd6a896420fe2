import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { systemClock } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { transportErrorResponse } from "../error-responses.ts";
import { refuseHost } from "./host-check.ts";
import {
  endWith,
  refuseExpectation,
  refuseUnparsed,
  respondWith,
  serveWith,
  shuttingDown,
} from "./protocol-refusals.ts";
import { nodeSockets } from "./node-sockets.ts";
import { cutVanishedClients, linuxConnectionFacts } from "./vanished-clients.ts";
import {
  type FetchHandler,
  type Listener,
  type ListenOptions,
  REQUEST_TIMEOUT_MS,
  STALLED_MS,
  type UpgradeRoute,
  waitUntil,
} from "./transport.ts";

const HEADERS_TIMEOUT_MS = 20_000;
/**
 * Idle time after which the listener closes a connection. It is longer than the usual limit of a proxy, so that the
 * proxy closes an idle connection first.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/**
 * Idle time before the first TCP keep-alive probe. The operating system then sends ten probes, one a second. The total
 * is shorter than the heartbeat interval of a stream.
 */
const TCP_KEEP_ALIVE_MS = 4_000;

export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const { host, port, publicUrl = null, stalledMs = STALLED_MS, clock = systemClock } = options;
  const serve = serveWith(fetch);
  const routes = new Map<string, UpgradeRoute>();
  const responses = new Set<ServerResponse>();
  const upgraded = new Set<Duplex>();
  const openSocket = nodeSockets();
  let closed: Promise<unknown> | null = null;
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      noDelay: true,
      // Node 24.9 and later use this option; for earlier versions see `serveWithoutUpgrade`.
      shouldUpgradeCallback: (request) => routes.has(pathOf(request)),
      // `refuseRequest` checks the Host header and responds with the error body of the API.
      requireHostHeader: false,
    },
    (request, response) => {
      const refused = refuseHost(request, publicUrl);
      if (refused === null) serve(request, response);
      else respondWith(response, refused);
    },
  );
  server.timeout = stalledMs;
  const stopWatch = cutVanishedClients(clock, linuxConnectionFacts(), () =>
    [...responses].flatMap(({ socket }) => socket ?? []),
  );

  const stopAccepting = (): Promise<unknown> => {
    if (closed === null) {
      closed = once(server, "close");
      stopWatch();
      server.close();
      server.closeIdleConnections();
    }
    return closed;
  };

  const finishResponses = async (): Promise<void> => {
    while (responses.size > 0) await Promise.all([...responses].map((response) => once(response, "close")));
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const route = routes.get(pathOf(request));
    if (route === undefined) return serveWithoutUpgrade(server, request, socket, head);
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    // The upgrade handler adds its own listener later; until then an error must not end the process.
    socket.on("error", () => socket.destroy());
    const refuse = (error: unknown): void => refuseUpgrade(socket, error, route.refusalHeaders);
    if (closed !== null) return refuse(shuttingDown());
    const refused = refuseHost(request, publicUrl);
    if (refused !== null) return endWith(socket, refused);
    route
      .handler(request)
      .then((accepted) => openSocket(request, socket, head, accepted))
      .catch(refuse);
    return undefined;
  };

  server.on("clientError", (error, socket) => {
    const hasResponse = [...responses].some((response) => response.socket === socket && response.headersSent);
    refuseUnparsed(error, socket, hasResponse);
  });
  server.on("checkExpectation", refuseExpectation);
  server.on("upgrade", upgrade);
  // Runs before the API's listener, which may write its headers at once.
  server.prependListener("request", (_request, response: ServerResponse) => {
    // An idle connection would delay `close`, so it does not stay open after this response.
    if (closed !== null) response.shouldKeepAlive = false;
    responses.add(response);
    // Node counts a partial write as activity. Without this listener, Node would also close the socket of a response
    // that has nothing to send.
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    response.once("close", () => {
      responses.delete(response);
      if (closed !== null) server.closeIdleConnections();
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const bound = server.address() as AddressInfo;
  return {
    port: bound.port,
    address: bound.address,
    onUpgrade: (path, handler, refusalHeaders = {}) => void routes.set(path, { handler, refusalHeaders }),
    async finishResponses(deadline) {
      void stopAccepting();
      await waitUntil(finishResponses(), deadline, () => server.closeAllConnections());
    },
    async close(deadline) {
      await waitUntil(stopAccepting(), deadline, () => {
        server.closeAllConnections();
        for (const socket of upgraded) socket.destroy();
      });
    },
  };
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? "").split("?", 1)[0] ?? "";
}

/** Request headers that offer another protocol. Without them, the request is a plain HTTP request. */
const UPGRADE_HEADERS = new Set(["upgrade", "http2-settings"]);

/**
 * Sends an error response with `headers` to a refused upgrade. For anything but a ServiceError, closes the socket
 * without a response.
 */
function refuseUpgrade(socket: Duplex, thrown: unknown, headers: Readonly<Record<string, string>>): void {
  if (!(thrown instanceof ServiceError)) {
    socket.destroy();
    return;
  }
  const response = transportErrorResponse(thrown);
  endWith(socket, { ...response, headers: { ...response.headers, ...headers } });
}

/**
 * Serves a request that offers an upgrade as if it did not. Node before 24.9 does not support `shouldUpgradeCallback`
 * and emits "upgrade" for each such request, with its body unread. This function therefore writes the request without
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
