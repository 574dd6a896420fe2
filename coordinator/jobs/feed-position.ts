/**
 * A reader's position in a feed: the numbers of output items and of status items received. The two are counted
 * separately, so that a position stays exact when a restarted coordinator rebuilds a feed with a status at another
 * place between the same outputs.
 */
export interface FeedPosition {
  readonly outputs: number;
  readonly statuses: number;
  /** The attempt that made the last of these outputs; 1 when there is no output. docs/internals/streams.md, "Positions". */
  readonly attempt: number;
  readonly ended: boolean;
}

export const FEED_START: FeedPosition = { outputs: 0, statuses: 0, attempt: 1, ended: false };

/**
 * Formats an SSE event id: "12.3", from the second attempt on "12.3.2"; "12.3.end" or "12.3.2.end" for the last event.
 */
export function formatPosition({ outputs, statuses, attempt, ended }: FeedPosition): string {
  return `${outputs}.${statuses}${attempt === 1 ? "" : `.${attempt}`}${ended ? ".end" : ""}`;
}

/** Parses a Last-Event-ID. Returns undefined for any other format. */
export function parsePosition(id: string): FeedPosition | undefined {
  const match = /^(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(\.end)?$/.exec(id);
  if (match === null) return undefined;
  const [, outputs, statuses, attempt = "1", end] = match;
  return { outputs: Number(outputs), statuses: Number(statuses), attempt: Number(attempt), ended: end !== undefined };
}
