import type { FeedItem } from "../store/jobs/job-store.ts";
import type { Feed } from "./feed.ts";
import { FEED_START, type FeedPosition } from "./feed-position.ts";

/** A reader's place in a feed. It walks the items once and leaves out what the reader was given before a reconnect. */
export class FeedCursor {
  #next = 0;
  #outputs: number;
  #statuses: number;
  readonly #feed: Feed;
  readonly #skip: FeedPosition;

  constructor(feed: Feed, after: FeedPosition = FEED_START) {
    this.#feed = feed;
    this.#skip = after;
    this.#outputs = feed.start.outputs;
    this.#statuses = feed.start.statuses;
  }

  /** What the reader has been given in all, before a reconnect and since. */
  get position(): FeedPosition {
    const isAhead = this.#outputs > this.#skip.outputs;
    return {
      outputs: isAhead ? this.#outputs : this.#skip.outputs,
      statuses: Math.max(this.#statuses, this.#skip.statuses),
      attempt: isAhead ? this.#feed.attemptOf(this.#outputs) : this.#skip.attempt,
      ended: false,
    };
  }

  /** The reader has output that is not in the feed, so what follows does not continue it. */
  get isLost(): boolean {
    return this.#outputs < this.#skip.outputs && this.#feed.hasLost(this.#skip);
  }

  /** The next item that the reader has not seen, with the cursor moved past it; undefined at the end of what there is. */
  take(): FeedItem | undefined {
    const { items } = this.#feed;
    while (this.#next < items.length) {
      const item = items[this.#next++] as FeedItem;
      const isNew =
        item.type === "status" ? ++this.#statuses > this.#skip.statuses : ++this.#outputs > this.#skip.outputs;
      if (isNew) return item;
    }
    return undefined;
  }

  /** Items that `take` has not looked at. */
  get behind(): number {
    return this.#feed.items.length - this.#next;
  }

  /** The item that `take` would look at next, seen or not. */
  peek(): FeedItem | undefined {
    return this.#feed.items[this.#next];
  }
}
