import { ProtocolError } from "./errors.ts";
import type { JobEvent } from "./schemas.ts";
import type { ServerEvent } from "./sse.ts";

/** What a job says, with the place in its stream. */
export type StreamedEvent = JobEvent & {
  /** For `lastEventId` of a later stream. */
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
export function isLast({ type }: JobEvent): boolean {
  return type === "done" || type === "error";
}
