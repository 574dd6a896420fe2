import type { IncomingMessage } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import type { Clock } from "../../../shared/clock.ts";
import type { CoordinatorConfig } from "../../config/resolve-config.ts";
import type { AcceptedUpgrade } from "../../islands/session-socket.ts";

/** Handles a request. May write to `env.outgoing` directly and return RESPONSE_ALREADY_SENT. */
export type FetchHandler = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Accepts an upgrade or throws. A thrown error is sent like the error of any other request. */
export type UpgradeHandler = (request: IncomingMessage) => Promise<AcceptedUpgrade>;

export interface UpgradeRoute {
  readonly handler: UpgradeHandler;
  /** Headers of every refused upgrade of this route. */
  readonly refusalHeaders: Readonly<Record<string, string>>;
}

/** A listener of the API. `test/coordinator/http/server/transport.contract.ts` tests each transport. */
export interface Listener {
  readonly port: number;
  readonly address: string;
  /** Accepts WebSocket upgrades at exactly `path`. Requests for other paths are served without one (RFC 9110 §7.8). */
  onUpgrade(path: string, handler: UpgradeHandler, refusalHeaders?: UpgradeRoute["refusalHeaders"]): void;
  /**
   * Stops accepting connections and waits for open responses. Cuts the remaining responses when `deadline` aborts.
   * Upgraded sockets stay open.
   */
  finishResponses(deadline: AbortSignal): Promise<void>;
  /**
   * Stops accepting connections, closes idle ones, and waits for open responses and upgraded sockets. Cuts those that
   * remain when `deadline` aborts.
   */
  close(deadline: AbortSignal): Promise<void>;
}

export type Transport = CoordinatorConfig["transport"];

export interface ListenOptions {
  readonly host: string;
  /** Port to listen on; 0 for a free port that the operating system chooses. */
  readonly port: number;
  /** URL at which clients reach the listener, with any host name. Default: null, which `host-check.ts` explains. */
  readonly publicUrl?: string | null;
  /** Library that serves HTTP. Default: node. */
  readonly transport?: Transport;
  /** Name or folder of the library, for a transport that needs one. */
  readonly transportModule?: string;
  /** Time after which a response to a stalled client is cut. Default: {@link STALLED_MS}. */
  readonly stalledMs?: number;
  /** Clock of all timers. Default: the system clock. */
  readonly clock?: Clock;
}

/** Maximum time to receive a whole request with its body. Responses have no such limit. */
export const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Time after which a response, streams included, is cut if its client reads none of the waiting data. Sockets are
 * checked in rotation, so the cut comes after one to three times this time. The limit is long because the operating
 * system reports free buffer space only after the client has read about a third of its buffer, often a megabyte. A
 * response with nothing to send may wait without limit.
 */
export const STALLED_MS = 120_000;

/** Adapters of the transports. Only the configured one is loaded. */
const ADAPTERS: Record<Transport, () => Promise<{ readonly listen: typeof listen }>> = {
  node: () => import("./node-listener.ts"),
  uws: () => import("./uws/uws-listener.ts"),
};

/**
 * Listens with the chosen transport.
 * @throws when the address is in use or does not belong to this machine, or the transport's library is missing.
 */
export async function listen(fetch: FetchHandler, options: ListenOptions): Promise<Listener> {
  const adapter = await ADAPTERS[options.transport ?? "node"]();
  return adapter.listen(fetch, options);
}

/** Waits for `ended`. Calls `cutOff` if `deadline` aborts first. */
export async function waitUntil(ended: Promise<unknown>, deadline: AbortSignal, cutOff: () => void): Promise<void> {
  if (deadline.aborted) cutOff();
  deadline.addEventListener("abort", cutOff);
  await ended;
  deadline.removeEventListener("abort", cutOff);
}
