import { type Feed, FeedCursor } from "../../../../coordinator/jobs/feed.ts";
import { FEED_START, formatPosition, parsePosition } from "../../../../coordinator/jobs/feed-position.ts";
import type { FeedItem } from "../../../../coordinator/store/jobs/job-store.ts";
import type { FeedSide } from "./feed-world.ts";

/** A client that reads a job's stream as the API gives it, and resumes it by its last event's id, at any coordinator. */
export class TestReader {
  /** Since the last time that it read from the start. */
  items: FeedItem[] = [];
  /** How often its position was lost, so that it read again from the start. */
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

  /** Reads at `side` from where it is. A refusal leaves it disconnected. */
  async connect(side: FeedSide): Promise<void> {
    this.disconnect();
    this.side = side;
    const feed = await side.open(this.#jobId, this.#after).catch(() => null);
    // Another connection took its place meanwhile.
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

  /** The connection is lost. */
  disconnect(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.side = null;
  }

  get #after() {
    return parsePosition(this.#lastEventId) ?? FEED_START;
  }

  #pump(feed: Feed, cursor: FeedCursor): void {
    if (cursor.isLost || feed.cutBecause === "lost") return this.disconnect();
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
