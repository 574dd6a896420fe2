import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Clock } from "../../../shared/clock.ts";
import type { CoordinatorConfig } from "../../config/resolve-config.ts";
import type { AcceptedUpgrade } from "../../islands/session-socket.ts";

/** Answers one request. It may instead write to `env.outgoing` itself and return RESPONSE_ALREADY_SENT. */
export type FetchHandler = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Decides about an upgrade. What it throws is answered like the error of any request. */
export type UpgradeHandler = (request: IncomingMessage) => Promise<AcceptedUpgrade>;

export interface UpgradeRoute {
  readonly handler: UpgradeHandler;
  /** Added to every refusal. */
  readonly refusalHeaders: Readonly<Record<string, string>>;
}

/** The transport under the API. The contract of its adapters is `test/coordinator/http/server/transport.contract.ts`. */
export interface Listener {
  readonly port: number;
  readonly address: string;
  /**
   * Offers WebSocket upgrades of exactly `path` to `handler`. For other paths the offer is ignored and the request answered like
   * any other (RFC 9110 §7.8). `refusalHeaders` are added to every refusal.
   */
  onUpgrade(path: string, handler: UpgradeHandler, refusalHeaders?: Readonly<Record<string, string>>): void;
  /** Stops accepting and waits for open answers; cuts those left when `deadline` aborts. Upgraded sockets stay open. */
  finishAnswers(deadline: AbortSignal): Promise<void>;
  /**
   * Stops accepting, closes idle connections, and waits for open answers and upgraded sockets; cuts those left when `deadline`
   * aborts.
   */
  close(deadline: AbortSignal): Promise<void>;
}

/** What serves HTTP and WebSockets. */
export type Transport = CoordinatorConfig["transport"];

export interface ListenOptions {
  readonly host: string;
  /** 0: the system chooses a free one. */
  readonly port: number;
  /** Default: node. */
  readonly transport?: Transport;
  /** The library of a transport that has one: its name, or its folder. */
  readonly transportModule?: string;
  /** Default {@link STALLED_MS}. */
  readonly stalledMs?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** Limit for receiving a whole request with its body. Answers have no such limit. */
export const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Cuts an answer, streams included, whose client reads nothing for this long while data waits for it, because that data is held
 * in memory. Sockets are checked in turns, so the cut comes after one to three times this long. The limit is long because the
 * system reports room only after the client has read about a third of its buffer, often a megabyte. An answer with nothing to
 * send may wait without limit.
 */
export const STALLED_MS = 120_000;

/** The adapters, each loaded only where it is configured. */
const ADAPTERS: Record<Transport, () => Promise<{ readonly listen: typeof listen }>> = {
  node: () => import("./node-listener.ts"),
  uws: () => import("./uws/uws-listener.ts"),
};

/**
 * Listens with the chosen transport.
 * @throws when the address is in use or not one of this machine, or the transport's library is missing.
 */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const adapter = await ADAPTERS[options.transport ?? "node"]();
  return adapter.listen(fetch, options);
}
