import { ConnectionError } from "../errors.ts";
import type { Http } from "../http.ts";
import { readPayload } from "../job-events.ts";
import type { AccountEvent } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface EventOptions extends CallOptions {
  /** Adds `overview`, of the whole network. Only for an operator's session; ends with a `PermissionDeniedError` when it is none any more. */
  readonly scope?: "network" | undefined;
  /** Reconnects in a row without progress; default: any number, until `signal` aborts. */
  readonly maxRetries?: number | undefined;
}

/** The connection is lost. The client tries again; `reset` comes once it is back. */
export interface OfflineEvent {
  readonly type: "offline";
}

/** An event of the account. */
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
 * Hints of what changes for the account, until the caller leaves the loop or the signal aborts. Each connection begins with `reset`, also
 * after a dropped one. `reset`: something may have been missed, read your lists.
 * @throws {AuthenticationError} once the key or session has ended.
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
