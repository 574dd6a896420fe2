import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { FeedItem } from "../../store/job-store.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import { FeedCursor } from "../../jobs/feed-cursor.ts";
import type { FeedPosition } from "../../jobs/feed-position.ts";

/** What a stream writes for each part of a feed: complete SSE events, or "" for a part that it leaves out. */
export interface FeedEncoder {
  /** Written before anything of the feed. */
  readonly prologue: string;
  /** `position`: the reader's place after the item. */
  item(item: FeedItem, position: FeedPosition): string;
  ending(ending: FeedEnding, position: FeedPosition): string;
}

export interface RelayOptions {
  readonly feed: Feed;
  /** The reader has this already. */
  readonly after: FeedPosition;
  readonly encoder: FeedEncoder;
  readonly response: ServerResponse;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** Asked at every heartbeat; a client that may not read on is cut off. A rejection leaves the stream as it is. */
  readonly mayRead: () => Promise<boolean>;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

const HEARTBEAT = ": heartbeat\n\n";
/** Text handed to the socket at once, so that back-pressure is seen before a long feed lies in memory twice. */
const SLICE_CHARS = 16_384;
/** Most text of one merged event: a slow reader gets few large events, but never one without bound. */
const MERGED_CHARS = 16_384;

/**
 * Writes a feed to a client as it grows: one write for all that a wake brings, straight to Node's response. While the socket
 * is full nothing is kept for the reader but its place in the feed; when it drains, tokens that came meanwhile go out merged.
 * The relay owns its subscription and its timer, and lets go of both when the feed or the client ends.
 */
export class FeedRelay {
  readonly #options: RelayOptions;
  readonly #cursor: FeedCursor;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer;
  #isBlocked = false;
  #isOver = false;

  /** Sends the headers and all that the feed has already. */
  constructor(options: RelayOptions) {
    this.#options = options;
    this.#cursor = new FeedCursor(options.feed, options.after);
    const { feed, response, encoder } = options;
    response.on("close", this.#onClose).on("drain", this.#onDrain);
    this.#unsubscribe = feed.subscribe(() => this.#pump(false));
    this.#heartbeat = this.#scheduleHeartbeat();
    if (response.destroyed) {
      this.#onClose();
      return;
    }
    response.writeHead(200, SSE_HEADERS);
    if (encoder.prologue !== "") this.#write(encoder.prologue);
    this.#pump(false);
    if (!this.#isOver) response.flushHeaders();
  }

  #pump(merging: boolean): void {
    const { feed, encoder, response } = this.#options;
    let text = "";
    if (this.#cursor.isLost) {
      // A client that comes back for the rest is told by its next request.
      this.#release();
      response.end();
      return;
    }
    while (!this.#isBlocked && !this.#isOver) {
      const item = this.#cursor.take();
      if (item === undefined) break;
      text += encoder.item(merging && item.type === "token" ? this.#joinTokens(item) : item, this.#cursor.position);
      if (text.length < SLICE_CHARS) continue;
      this.#write(text);
      text = "";
    }
    if (this.#isBlocked || this.#isOver) return;
    if (feed.ending !== null) {
      this.#release();
      response.end(text + encoder.ending(feed.ending, { ...this.#cursor.position, ended: true }));
    } else if (text !== "") this.#write(text);
  }

  /** `first` and the tokens that follow it directly, as one. */
  #joinTokens(first: Extract<FeedItem, { type: "token" }>): FeedItem {
    let { content, count } = first;
    for (let next = this.#cursor.peek(); next?.type === "token"; next = this.#cursor.peek()) {
      if (content.length + next.content.length > MERGED_CHARS) break;
      this.#cursor.take();
      content += next.content;
      count += next.count;
    }
    return { type: "token", content, count };
  }

  #write(text: string): void {
    if (!this.#options.response.write(text)) this.#isBlocked = true;
  }

  #scheduleHeartbeat(): Timer {
    return this.#options.clock.schedule(this.#options.heartbeatMs, () => {
      if (!this.#isBlocked) this.#write(HEARTBEAT);
      this.#heartbeat = this.#scheduleHeartbeat();
      void this.#cutOffUnlessMayRead();
    });
  }

  async #cutOffUnlessMayRead(): Promise<void> {
    const { mayRead, response } = this.#options;
    if (!(await mayRead().catch(() => true))) response.destroy();
  }

  readonly #onDrain = (): void => {
    this.#isBlocked = false;
    this.#pump(true);
  };

  readonly #onClose = (): void => {
    this.#release();
  };

  #release(): void {
    this.#isOver = true;
    this.#unsubscribe();
    this.#heartbeat.cancel();
    const { response } = this.#options;
    response.off("close", this.#onClose).off("drain", this.#onDrain);
  }
}
