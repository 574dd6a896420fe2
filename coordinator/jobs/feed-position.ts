/**
 * A reader's position in a feed: the numbers of output items and of status items received. They are counted separately,
 * because a restarted coordinator may rebuild a feed with a status between other outputs.
 */
export interface FeedPosition {
  readonly outputs: number;
  readonly statuses: number;
  /** The attempt that made the last output; 1 without output. See docs/internals/streams.md, "Positions". */
  readonly attempt: number;
  readonly ended: boolean;
}

export const FEED_START: FeedPosition = { outputs: 0, statuses: 0, attempt: 1, ended: false };

/** Formats an SSE event id: "12.3", "12.3.2" from the second attempt on; with ".end" for the last event. */
export function formatPosition({ outputs, statuses, attempt, ended }: FeedPosition): string {
  return `${outputs}.${statuses}${attempt === 1 ? "" : `.${attempt}`}${ended ? ".end" : ""}`;
}

/** Parses a Last-Event-ID. Returns undefined for text in another format. */
export function parsePosition(id: string): FeedPosition | undefined {
  const match = /^(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(\.end)?$/.exec(id);
  if (match === null) return undefined;
  const [, outputs, statuses, attempt = "1", end] = match;
  return { outputs: Number(outputs), statuses: Number(statuses), attempt: Number(attempt), ended: end !== undefined };
}
