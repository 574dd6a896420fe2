import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ServiceError } from "../../../shared/errors.ts";
import { refuseExpectation, refuseRequest, refuseUnparsed } from "./protocol-refusals.ts";
import { refuseUpgrade } from "./refuse-upgrade.ts";
import { serveWithoutUpgrade } from "./unwanted-upgrade.ts";

/** Answers one request; may also write to `env.outgoing` itself and return RESPONSE_ALREADY_SENT. */
export type FetchHandler = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Takes over the socket of a request for another protocol. Until it has, a rejection is answered as that of a request. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void | Promise<void>;

interface UpgradeRoute {
  readonly handler: UpgradeHandler;
  readonly refusalHeaders: Readonly<Record<string, string>>;
}

/** The transport under the API. One adapter so far, node:http. */
export interface Listener {
  readonly port: number;
  readonly address: string;
  /** Hands upgrades of exactly `path` to `handler`. Of other paths an upgrade is ignored, and the request answered like any (RFC 9110 §7.8). `refusalHeaders` go with every refusal. */
  onUpgrade(path: string, handler: UpgradeHandler, refusalHeaders?: Readonly<Record<string, string>>): void;
  /** Stops accepting, and waits for the answers under way; those left when `deadline` aborts are cut off. Upgraded sockets stay. */
  finishAnswers(deadline: AbortSignal): Promise<void>;
  /**
   * Stops accepting, closes idle connections, and waits for the answers under way and the upgraded sockets. What is left when
   * `deadline` aborts is cut off.
   */
  close(deadline: AbortSignal): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** See {@link STALLED_MS}. */
  readonly stalledMs?: number;
}

/** For a whole request to come in, its body included. Answers may take as long as they like. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 20_000;
/** Longer than the usual idle time of a proxy, so that it is the proxy that ends an idle connection. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const TCP_KEEP_ALIVE_MS = 60_000;
/**
 * A client may take so long not to take a byte of what waits for it, which is memory; then its answer is cut off, a stream like
 * any other, after one to three times as long (by when its socket was looked at). Long, as the system tells of room only when
 * about a third of its own buffer, often a megabyte, was read. An answer that has nothing to send may wait as long as it likes.
 */
const STALLED_MS = 120_000;

/** Listens by node:http. @throws when the address is taken or not ours. */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const { host, port, stalledMs = STALLED_MS } = options;
  const handlers = new Map<string, UpgradeRoute>();
  const serve = getRequestListener((request, env) => answer(fetch, request, env as HttpBindings), {
    errorHandler: refuseRequest,
  });
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      noDelay: true,
      // Known to Node 24.9 and later; earlier ones end in `serveWithoutUpgrade`.
      shouldUpgradeCallback: (request) => handlers.has(pathOf(request)),
      // Asked for all the same, with an answer that says so.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void serve(incoming, outgoing),
  );
  server.timeout = stalledMs;
  const listener = new NodeListener(server, handlers);
  server.listen(port, host);
  await once(server, "listening");
  return listener;
}

/** Hono builds a new answer for HEAD and so forgets that it was written already; it would be written twice. */
function answer(fetch: FetchHandler, request: Request, env: HttpBindings): Response | Promise<Response> {
  const response = fetch(request, env);
  if (env.incoming.method !== "HEAD") return response;
  return Promise.resolve(response).then((made) => (env.outgoing.headersSent ? RESPONSE_ALREADY_SENT : made));
}

function pathOf({ url }: IncomingMessage): string {
  return (url ?? "").split("?", 1)[0] ?? "";
}

class NodeListener implements Listener {
  readonly #server: Server;
  readonly #upgraded = new Set<Duplex>();
  readonly #handlers: Map<string, UpgradeRoute>;
  readonly #answers = new Set<ServerResponse>();
  #closed: Promise<unknown> | null = null;

  constructor(server: Server, handlers: Map<string, UpgradeRoute>) {
    this.#server = server;
    this.#handlers = handlers;
    server.on("clientError", (error, socket) => refuseUnparsed(error, socket, this.#hasAnswer(socket)));
    server.on("checkExpectation", refuseExpectation);
    server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    // Ahead of the API, which may write its headers at once.
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

  async finishAnswers(deadline: AbortSignal): Promise<void> {
    void this.#stopAccepting();
    const cutOff = (): void => this.#server.closeAllConnections();
    if (deadline.aborted) cutOff();
    deadline.addEventListener("abort", cutOff);
    while (this.#answers.size > 0) await Promise.all([...this.#answers].map((answer) => once(answer, "close")));
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
      this.#server.close();
      this.#server.closeIdleConnections();
    }
    return this.#closed;
  }

  /** A connection kept alive after its last answer would hold up `close`. */
  #watch(response: ServerResponse): void {
    if (this.#closed !== null) response.shouldKeepAlive = false;
    this.#answers.add(response);
    // Node counts it as activity when the system takes a part of a long write. Unheard, the event would close the socket.
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    response.once("close", () => {
      this.#answers.delete(response);
      if (this.#closed !== null) this.#server.closeIdleConnections();
    });
  }

  #hasAnswer(socket: Duplex): boolean {
    return [...this.#answers].some((response) => response.socket === socket && response.headersSent);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const route = this.#handlers.get(pathOf(request));
    if (route === undefined) {
      serveWithoutUpgrade(this.#server, request, socket, head);
      return;
    }
    this.#upgraded.add(socket);
    socket.once("close", () => this.#upgraded.delete(socket));
    // Whoever takes the socket over adds a listener of its own; until then an error must not end the process.
    socket.on("error", () => socket.destroy());
    const refuse = (error: unknown): void => refuseUpgrade(socket, error, route.refusalHeaders);
    if (this.#closed === null) Promise.resolve(route.handler(request, socket, head)).catch(refuse);
    else refuse(new ServiceError("shutting_down", "The coordinator is going down"));
  }
}
