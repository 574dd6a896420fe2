import { ProtocolError } from "./errors.ts";
import type { JobEvent } from "./schemas.ts";
import type { ServerEvent } from "./sse.ts";

/**
 * The coordinator lost what it had delivered in a crash, and the job went on without it: forget what the stream said so far.
 * Everything that counts follows, from the beginning.
 */
export interface RestartEvent {
  readonly type: "restart";
}

/** What a job says, with the place in its stream. */
export type StreamedEvent = (JobEvent | RestartEvent) & {
  /** For `lastEventId` of a later stream; empty for `restart`, after which there is nothing to resume yet. */
  readonly id: string;
};

const KNOWN_EVENTS: ReadonlySet<string> = new Set<JobEvent["type"]>([
  "status",
  "token",
  "progress",
  "image",
  "done",
  "error",
]);

/** Null for an event that this version of the client does not know. @throws {ProtocolError} */
export function readJobEvent(event: ServerEvent): StreamedEvent | null {
  if (!KNOWN_EVENTS.has(event.event)) return null;
  return { ...(readPayload(event) as JobEvent), id: event.id };
}

/** @throws {ProtocolError} when it is not JSON. */
export function readPayload({ event, data }: ServerEvent): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ProtocolError(`The payload of an event "${event}" is not JSON`, { cause });
  }
}

/** Nothing comes after it. */
export function isLast({ type }: StreamedEvent): boolean {
  return type === "done" || type === "error";
}
