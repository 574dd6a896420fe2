import { ConnectionError } from "../errors.ts";
import type { Http } from "../http.ts";
import { readPayload } from "../job-events.ts";
import type { AccountEvent } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface EventOptions extends CallOptions {
  /**
   * Adds `overview` events, which describe the whole network. Only for an operator's session. The stream throws a
   * `PermissionDeniedError` when the account loses the role.
   */
  readonly scope?: "network" | undefined;
  /** Maximum number of consecutive reconnects without progress. Default: no limit until `signal` aborts. */
  readonly maxRetries?: number | undefined;
}

/** Reports that the connection is lost. `reset` follows when the client has reconnected. */
export interface OfflineEvent {
  readonly type: "offline";
}

/** Event of {@link Atoll.events}. */
export type ToldEvent = AccountEvent | OfflineEvent;

const KNOWN_EVENTS: ReadonlySet<string> = new Set<AccountEvent["type"]>([
  "reset",
  "job",
  "island",
  "island_removed",
  "account",
  "balance",
  "overview",
]);

/**
 * Streams changes of the account until the caller leaves the loop or the signal aborts. Each connection begins with `reset`, including a
 * reconnect: events may have been missed, so read your lists again.
 * @throws {AuthenticationError} when the key or session has ended.
 */
export async function* streamEvents(
  http: Http,
  { scope, maxRetries = Infinity, ...options }: EventOptions,
): AsyncGenerator<ToldEvent, void, undefined> {
  const retries = http.retries({ ...options, maxRetries }, true);
  let isConnected = false;
  const query = scope === undefined ? {} : { scope };
  for (;;) {
    try {
      for await (const event of http.events("get", "/events", { query }, options)) {
        isConnected = true;
        retries.reset();
        if (KNOWN_EVENTS.has(event.event)) yield readPayload(event) as AccountEvent;
      }
      throw new ConnectionError("The coordinator closed the stream of events");
    } catch (error) {
      if (isConnected && options.signal?.aborted !== true) yield { type: "offline" };
      isConnected = false;
      await retries.pause(error);
    }
  }
}
