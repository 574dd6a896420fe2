import { type Feed, FeedCursor } from "../../../../coordinator/jobs/feed.ts";
import { FEED_START, formatPosition, parsePosition } from "../../../../coordinator/jobs/feed-position.ts";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import type { FeedSide } from "./feed-world.ts";

/** A client that reads a job's stream through the API, and resumes it at any coordinator with its last event id. */
export class TestReader {
  /** Items received since the client last read from the start. */
  items: FeedItem[] = [];
  /** How often the client's position was lost, so that it restarted. */
  restarts = 0;
  isDone = false;
  side: FeedSide | null = null;
  #lastEventId = formatPosition(FEED_START);
  #unsubscribe: (() => void) | null = null;
  readonly #jobId: string;

  constructor(jobId = "job_1") {
    this.#jobId = jobId;
  }

  get outputs(): readonly FeedItem[] {
    return this.items.filter(({ type }) => type !== "status");
  }

  /** Reads at `side` from the client's position. A refusal leaves the client disconnected. */
  async connect(side: FeedSide): Promise<void> {
    this.disconnect();
    this.side = side;
    const feed = await side.open(this.#jobId, this.#after).catch(() => null);
    // Another connection replaced this one.
    if (this.side !== side || this.#unsubscribe !== null) return;
    if (feed === null || side.isDead) return this.disconnect();
    if (feed.hasLost(this.#after)) {
      this.items = [];
      this.restarts += 1;
      this.#lastEventId = formatPosition(FEED_START);
      if (feed.start.outputs > 0) return this.connect(side);
    }
    const cursor = new FeedCursor(feed, this.#after);
    this.#unsubscribe = feed.subscribe(() => this.#pump(feed, cursor));
    this.#pump(feed, cursor);
  }

  /** Drops the connection. */
  disconnect(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.side = null;
  }

  get #after() {
    return parsePosition(this.#lastEventId) ?? FEED_START;
  }

  #pump(feed: Feed, cursor: FeedCursor): void {
    if (cursor.isLost || feed.cutReason === "lost") return this.disconnect();
    for (let item = cursor.take(); item !== undefined; item = cursor.take()) {
      this.items.push(item);
      this.#lastEventId = formatPosition(cursor.position);
    }
    if (feed.isCut) return this.disconnect();
    if (feed.ending === null) return undefined;
    this.isDone = true;
    return this.disconnect();
  }
}
