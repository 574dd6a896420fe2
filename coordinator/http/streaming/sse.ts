import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import { type CutReason, type Feed, FeedCursor, type FeedEnding } from "../../jobs/feed.ts";
import { FEED_START, type FeedPosition } from "../../jobs/feed-position.ts";
import type { JobWait, JobWaiting } from "../../jobs/job-waiting.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { HttpDeps } from "../http-deps.ts";
import { piecesOfParts, type JsonPart } from "../middleware/json-answer.ts";

/** Complete SSE events; in parts when a large value belongs to them. "" for a part of the feed that the stream leaves out. */
export type EncodedEvent = string | readonly JsonPart[];

/** Turns the parts of a feed into the text of a stream. */
export interface FeedEncoder {
  /** Written before the first item. */
  readonly prologue: string;
  /** `reader`: has the position after the item. It costs more than a token's text, so that only those ask for it who say it. */
  item(item: FeedItem, reader: { readonly position: FeedPosition }): EncodedEvent;
  ending(ending: FeedEnding, position: FeedPosition): EncodedEvent;
  /** An event written after each comment on why the job waits; it does not move the position. Absent: only the comment is written. */
  waiting?(why: JobWait, position: FeedPosition): string;
  /** The last words to a reader whose feed is cut. Absent: the reader comes back with its position, and needs none. */
  cut?(because: CutReason): string;
}

/** A feed on its way to a client. */
interface FeedStream {
  readonly feed: Feed;
  /** The reader has everything up to here; nothing by default. */
  readonly after?: FeedPosition;
  readonly encoder: FeedEncoder;
  readonly response: ServerResponse;
  /** Called when the stream ends because the feed is cut. */
  readonly onCut?: (() => void) | undefined;
  /** The response has its headers: another feed comes before this one. */
  readonly isContinued?: boolean | undefined;
  /** Called in place of the stream's end once a feed that ends in `done` is written: another one follows. */
  readonly onDone?: (() => void) | undefined;
}

interface RelayOptions extends FeedStream {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** Why the job has no output yet; null for one that has ended. */
  readonly explain: () => Promise<JobWait | null>;
  /** Whether the credential is still valid; asked at every heartbeat. False cuts the stream; a rejection does not. */
  readonly mayRead: () => Promise<boolean>;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** Interval of the comments with the reason while a job has no output. They also serve as keepalive. */
export const EXPLAIN_EVERY_MS = 5_000;
/** The keepalive: an SSE comment, which clients ignore, so that proxies do not close a silent stream. */
const HEARTBEAT = ": heartbeat\n\n";
/** About the largest write to the socket. A reader that does not read holds one of them. */
const MAX_WRITE_CHARS = 16_384;
/** A reader that is further behind while it does not read gets its tokens merged. */
const MAX_ITEMS_BEHIND = 256;
/** Longest text of one merged event, so that a slow reader gets large events of bounded size. */
const MAX_MERGED_CHARS = 16_384;

/**
 * Writes a feed to a client as it grows, straight to Node's response: one write for all items of a turn of the event loop, at its end.
 * The next write waits until the system has taken the last one, so that a reader costs its position and one write. One that falls behind
 * gets its tokens merged.
 * The relay owns its subscription and its timer and releases both when the feed or the client ends.
 */
export class FeedRelay {
  readonly #options: RelayOptions;
  readonly #cursor: FeedCursor;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer;
  /** The system has not taken the last write yet. */
  #isWriting = false;
  /** The feed has grown in this turn. */
  #isDue = false;
  #isMerging = false;
  #hasHeaders = false;
  #isOver = false;
  /** Why the job waits, as long as the system has not taken the write before. */
  #comment = "";

  /** Sends the headers and all items that the feed already has. */
  constructor(options: RelayOptions) {
    this.#options = options;
    this.#cursor = new FeedCursor(options.feed, options.after ?? FEED_START);
    const { feed, response, encoder } = options;
    response.on("close", this.#onClose);
    this.#unsubscribe = feed.subscribe(this.#onChange);
    this.#heartbeat = this.#scheduleHeartbeat();
    if (response.destroyed) {
      this.#onClose();
      return;
    }
    if (options.isContinued === true) this.#hasHeaders = true;
    else response.writeHead(200, SSE_HEADERS);
    this.#pump(encoder.prologue);
    if (!this.#isOver && !this.#hasHeaders) response.flushHeaders();
    this.#hasHeaders = true;
    if (this.#isWaiting) void this.#explain();
  }

  /** True while the feed has only states, so that the client does not know why it waits. */
  get #isWaiting(): boolean {
    return !this.#isOver && !this.#options.feed.hasItems;
  }

  /** `text`: comes before what follows from the feed. */
  #pump(text = ""): void {
    const { feed, encoder, response, onDone } = this.#options;
    // A client that comes back gets 422 position_lost.
    if (this.#cursor.isLost || feed.cutBecause === "lost") return this.#endCut("", "lost");
    while (text.length < MAX_WRITE_CHARS) {
      const item = this.#cursor.take();
      if (item === undefined) break;
      const event = encoder.item(this.#merged(item), this.#cursor);
      if (typeof event !== "string") return this.#writeParts([text, ...event], false);
      text += event;
    }
    const isAtEnd = this.#cursor.peek() === undefined;
    if (isAtEnd) this.#isMerging = false;
    if (isAtEnd && feed.ending !== null) {
      const event = encoder.ending(feed.ending, { ...this.#cursor.position, ended: true });
      if (typeof event !== "string") return this.#writeParts([text, ...event], true);
      this.#release();
      if (feed.ending.type === "done" && onDone !== undefined) response.write(text + event, () => onDone());
      else response.end(text + event);
    } else if (isAtEnd && feed.cutBecause !== null) this.#endCut(text, feed.cutBecause);
    else if (text !== "") this.#write(text);
    return undefined;
  }

  #endCut(text: string, because: CutReason): void {
    const { encoder, response, onCut } = this.#options;
    this.#release();
    response.end(text + (encoder.cut?.(because) ?? ""));
    onCut?.();
  }

  /** The item, for a reader that fell behind with the tokens that directly follow it. */
  #merged(first: FeedItem): FeedItem {
    if (!this.#isMerging || first.type !== "token") return first;
    let { content, count } = first;
    let logprobs = first.logprobs ?? [];
    for (let next = this.#cursor.peek(); next?.type === "token"; next = this.#cursor.peek()) {
      if (content.length + next.content.length > MAX_MERGED_CHARS) break;
      this.#cursor.take();
      content += next.content;
      count += next.count;
      if (next.logprobs !== undefined) logprobs = [...logprobs, ...next.logprobs];
    }
    return { type: "token", content, count, ...(logprobs.length > 0 && { logprobs }) };
  }

  #write(text: string): void {
    const { response } = this.#options;
    this.#isWriting = true;
    // The headers go with the first write.
    if (this.#hasHeaders) writeChunk(response, text, this.#onWritten);
    else response.write(text, this.#onWritten);
  }

  /** Writes an event with a large value, piece by piece, as fast as the client reads. */
  #writeParts(parts: readonly JsonPart[], isLast: boolean): void {
    const { response } = this.#options;
    this.#isWriting = true;
    this.#sendParts(parts).then(
      () => {
        if (this.#isOver) return;
        if (!isLast) return this.#onWritten();
        this.#release();
        response.end();
      },
      // The job was deleted, or storage failed: the event cannot be finished.
      () => response.destroy(),
    );
  }

  async #sendParts(parts: readonly JsonPart[]): Promise<void> {
    const { response } = this.#options;
    for await (const piece of piecesOfParts(parts)) {
      if (this.#isOver) return;
      if (piece !== "") await new Promise<void>((resolve) => void response.write(piece, () => resolve()));
    }
  }

  #scheduleHeartbeat(): Timer {
    const { clock, heartbeatMs } = this.#options;
    return clock.schedule(this.#isWaiting ? Math.min(heartbeatMs, EXPLAIN_EVERY_MS) : heartbeatMs, () => {
      if (this.#isWaiting) void this.#explain(HEARTBEAT);
      else if (!this.#isWriting) this.#write(HEARTBEAT);
      this.#heartbeat = this.#scheduleHeartbeat();
      void this.#cutOffUnlessMayRead();
    });
  }

  /** Writes `otherwise` if no reason is known. */
  async #explain(otherwise = ""): Promise<void> {
    const { explain, encoder } = this.#options;
    // Its owner may be away for a moment.
    const why = await explain().catch(() => null);
    if (!this.#isWaiting) return;
    const text =
      why?.waiting == null ? otherwise : commentOf(why.waiting) + (encoder.waiting?.(why, this.#cursor.position) ?? "");
    if (this.#isWriting) this.#comment = text;
    else if (text !== "") this.#write(text);
  }

  async #cutOffUnlessMayRead(): Promise<void> {
    const { mayRead, response } = this.#options;
    if (!(await mayRead().catch(() => true))) response.destroy();
  }

  readonly #onChange = (): void => {
    if (this.#isWriting || this.#isDue) {
      this.#isMerging ||= this.#cursor.behind > MAX_ITEMS_BEHIND;
    } else {
      this.#isDue = true;
      process.nextTick(this.#onTurnEnd);
    }
  };

  readonly #onTurnEnd = (): void => {
    this.#isDue = false;
    if (!this.#isWriting && !this.#isOver) this.#pump();
  };

  readonly #onWritten = (): void => {
    this.#isWriting = false;
    const comment = this.#comment;
    this.#comment = "";
    if (!this.#isOver) this.#pump(comment);
  };

  readonly #onClose = (): void => {
    this.#release();
  };

  #release(): void {
    this.#isOver = true;
    this.#unsubscribe();
    this.#heartbeat.cancel();
    this.#options.response.off("close", this.#onClose);
  }
}

/**
 * Streams a feed to the client as Server-Sent Events until the feed or the client ends. Returns what a Hono handler returns.
 * @param stream.identity The caller. The stream is cut when its key or session is revoked.
 */
export function streamFeed(
  { accounts, clock, jobs, options }: HttpDeps,
  { identity, ...stream }: FeedStream & { readonly identity: Identity },
): Response {
  const mayRead = (): Promise<boolean> => accounts.isStillValid(identity);
  const explain = (): Promise<JobWait | null> => jobs.explain(identity.accountId, stream.feed.jobId);
  void new FeedRelay({ ...stream, clock, heartbeatMs: options.heartbeatMs, explain, mayRead });
  return RESPONSE_ALREADY_SENT;
}

/** A line break would end the comment. */
function commentOf({ message }: JobWaiting): string {
  return `: waiting, ${message.replaceAll(/\s+/g, " ")}\n\n`;
}

/**
 * Writes a piece of an answer whose headers are sent; `onTaken` is called when the system has taken it. node:http makes four writes of a
 * chunk and gathers them until the next tick. As one string for the socket, what a token costs in all is a sixth less, measured with 64
 * streams of spaced tokens.
 */
function writeChunk(response: ServerResponse, text: string, onTaken: () => void): void {
  const { socket } = response;
  // Not for HTTP/1.0, nor for an answer that waits for an earlier one of its connection, nor for a connection that ends.
  if (socket?.writable !== true || !response.chunkedEncoding) return void response.write(text, onTaken);
  const bytes = Buffer.byteLength(text);
  const isAscii = bytes === text.length;
  socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, isAscii ? "latin1" : "utf8", onTaken);
  return undefined;
}
