import { ConnectionError } from "../errors.ts";
import type { Http } from "../http.ts";
import { readPayload } from "../job-events.ts";
import type { AccountEvent } from "../schemas.ts";
import type { CallOptions } from "../settings.ts";

export interface EventOptions extends CallOptions {
  /** Continues after the event with this id, of an earlier stream. */
  readonly lastEventId?: string | undefined;
  /** Adds `overview`, of the whole network. Only for an operator's session; ends with a `PermissionDeniedError` when it is none any more. */
  readonly scope?: "network" | undefined;
  /** Reconnects in a row without progress; default: any number, until `signal` aborts. */
  readonly maxRetries?: number | undefined;
}

/** The connection is lost. The client tries again; `ready` or `reset` comes once it is back. */
export interface OfflineEvent {
  readonly type: "offline";
}

/** An event of the account, with its position in the stream. */
export type ToldEvent = (AccountEvent | OfflineEvent) & {
  /** For `lastEventId` of a later stream; empty before the first event. */
  readonly eventId: string;
};

const KNOWN_EVENTS: ReadonlySet<string> = new Set<AccountEvent["type"]>([
  "ready",
  "reset",
  "job",
  "island",
  "island_removed",
  "account",
  "balance",
  "overview",
]);

/**
 * What changes for the account, until the caller leaves the loop or the signal aborts. Begins with `ready`; after a dropped connection it
 * continues after the last event. `reset`: something may have been missed, read your lists again.
 * @throws {AuthenticationError} once the key or session has ended.
 */
export async function* streamEvents(
  http: Http,
  { lastEventId, scope, maxRetries = Infinity, ...options }: EventOptions,
): AsyncGenerator<ToldEvent, void, undefined> {
  const retries = http.retries({ ...options, maxRetries }, true);
  let eventId = lastEventId ?? "";
  let isConnected = false;
  const query = scope === undefined ? {} : { scope };
  for (;;) {
    try {
      const traits = { headers: eventId === "" ? {} : { "last-event-id": eventId } };
      for await (const event of http.events("get", "/events", { query }, options, traits)) {
        isConnected = true;
        eventId = event.id;
        retries.reset();
        if (KNOWN_EVENTS.has(event.event)) yield { ...(readPayload(event) as AccountEvent), eventId };
      }
      throw new ConnectionError("The coordinator closed the stream of events");
    } catch (error) {
      if (isConnected && options.signal?.aborted !== true) yield { type: "offline", eventId };
      isConnected = false;
      await retries.pause(error);
    }
  }
}
