import { ProtocolError } from "./errors.ts";
import type { JobEvent } from "./schemas.ts";
import type { ServerEvent } from "./sse.ts";

/**
 * Signals that the coordinator crashed and lost output that it had delivered. Discard all earlier events of this stream: the job's
 * events follow from the beginning.
 */
export interface RestartEvent {
  readonly type: "restart";
}

/** An event of a job, with its position in the stream. */
export type StreamedEvent = (JobEvent | RestartEvent) & {
  /** Value for `lastEventId` of a later stream; empty for `restart`. */
  readonly id: string;
};

const KNOWN_EVENTS: ReadonlySet<string> = new Set<JobEvent["type"]>([
  "status",
  "token",
  "reasoning",
  "tool_call",
  "progress",
  "image",
  "done",
  "error",
]);

/** Returns the job event, or null for a type that this version of the client does not know. @throws {ProtocolError} */
export function readJobEvent(event: ServerEvent): StreamedEvent | null {
  if (!KNOWN_EVENTS.has(event.event)) return null;
  return { ...(readPayload(event) as JobEvent), id: event.id };
}

/** Parses the data of an event. @throws {ProtocolError} if it is not JSON. */
export function readPayload({ event, data }: ServerEvent): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ProtocolError(`The payload of the event "${event}" is not JSON`, { cause });
  }
}

/** Returns whether this is the last event of its stream. */
export function isLast({ type }: StreamedEvent): boolean {
  return type === "done" || type === "error";
}
