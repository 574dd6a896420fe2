import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { FeedItem } from "../../store/job-store.ts";
import type { Feed, FeedEnding } from "../../jobs/feed.ts";
import { FeedCursor } from "../../jobs/feed-cursor.ts";
import type { FeedPosition } from "../../jobs/feed-position.ts";

/** Turns the parts of a feed into the text of a stream: complete SSE events, or "" for a part that it leaves out. */
export interface FeedEncoder {
  /** Written before the first item. */
  readonly prologue: string;
  /** `position`: the reader's position after the item. */
  item(item: FeedItem, position: FeedPosition): string;
  ending(ending: FeedEnding, position: FeedPosition): string;
}

export interface RelayOptions {
  readonly feed: Feed;
  /** The reader has everything up to here. */
  readonly after: FeedPosition;
  readonly encoder: FeedEncoder;
  readonly response: ServerResponse;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** Whether the credential is still valid; asked at every heartbeat. False cuts the stream; a rejection does not. */
  readonly mayRead: () => Promise<boolean>;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** The keepalive: an SSE comment, which clients ignore, so that proxies do not close a silent stream. */
const HEARTBEAT = ": heartbeat\n\n";
/** Largest write to the socket, so that back-pressure shows before a second copy of a long feed is in memory. */
const MAX_WRITE_CHARS = 16_384;
/** Longest text of one merged event, so that a slow reader gets large events of bounded size. */
const MAX_MERGED_CHARS = 16_384;

/**
 * Writes a feed to a client as it grows, straight to Node's response: one write for all items of a wake-up. While the socket is
 * full, the relay keeps only the reader's position; when the socket drains, the tokens since then go out merged. The relay
 * owns its subscription and its timer and releases both when the feed or the client ends.
 */
export class FeedRelay {
  readonly #options: RelayOptions;
  readonly #cursor: FeedCursor;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer;
  #isBlocked = false;
  #isOver = false;

  /** Sends the headers and all items that the feed already has. */
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
      // No event: the client reconnects and then gets 422 position_lost.
      this.#release();
      response.end();
      return;
    }
    while (!this.#isBlocked && !this.#isOver) {
      const item = this.#cursor.take();
      if (item === undefined) break;
      text += encoder.item(merging && item.type === "token" ? this.#joinTokens(item) : item, this.#cursor.position);
      if (text.length < MAX_WRITE_CHARS) continue;
      this.#write(text);
      text = "";
    }
    if (this.#isBlocked || this.#isOver) return;
    if (feed.ending !== null) {
      this.#release();
      response.end(text + encoder.ending(feed.ending, { ...this.#cursor.position, ended: true }));
    } else if (text !== "") this.#write(text);
  }

  /** Merges `first` and the tokens that directly follow it. */
  #joinTokens(first: Extract<FeedItem, { type: "token" }>): FeedItem {
    let { content, count } = first;
    for (let next = this.#cursor.peek(); next?.type === "token"; next = this.#cursor.peek()) {
      if (content.length + next.content.length > MAX_MERGED_CHARS) break;
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
