import type { FeedItem } from "../store/job-store.ts";

/**
 * How far a reader has come: how many output items and how many status items it was given. The two are counted apart so that
 * a position stays exact when a restarted coordinator rebuilds a feed with a status in another place between the same outputs.
 */
export interface FeedPosition {
  readonly outputs: number;
  readonly statuses: number;
  readonly ended: boolean;
}

export const FEED_START: FeedPosition = { outputs: 0, statuses: 0, ended: false };

/** As an SSE event id: "12.3", or "12.3.end" for the last event. */
export function formatPosition({ outputs, statuses, ended }: FeedPosition): string {
  return ended ? `${outputs}.${statuses}.end` : `${outputs}.${statuses}`;
}

/** Reads a Last-Event-ID; undefined when it is not one of ours. */
export function parsePosition(id: string): FeedPosition | undefined {
  const match = /^(\d{1,9})\.(\d{1,9})(\.end)?$/.exec(id);
  if (match === null) return undefined;
  return { outputs: Number(match[1]), statuses: Number(match[2]), ended: match[3] !== undefined };
}

/** A reader's place in a feed. It walks the items once and leaves out what the reader was given before a reconnect. */
export class FeedCursor {
  #next = 0;
  #outputs = 0;
  #statuses = 0;
  readonly #skip: FeedPosition;

  constructor(after: FeedPosition = FEED_START) {
    this.#skip = after;
  }

  /** Position after the last item taken. */
  get position(): FeedPosition {
    return { outputs: this.#outputs, statuses: this.#statuses, ended: false };
  }

  /** The next item that the reader has not seen, with the cursor moved past it; undefined at the end of what there is. */
  take(items: readonly FeedItem[]): FeedItem | undefined {
    while (this.#next < items.length) {
      const item = items[this.#next++] as FeedItem;
      const isNew =
        item.type === "status" ? ++this.#statuses > this.#skip.statuses : ++this.#outputs > this.#skip.outputs;
      if (isNew) return item;
    }
    return undefined;
  }

  /** The item that `take` would look at next, seen or not. */
  peek(items: readonly FeedItem[]): FeedItem | undefined {
    return items[this.#next];
  }
}
