import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Clock, Timer } from "../../../shared/clock.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import { type CutReason, type Feed, FeedCursor, type FeedEnding } from "../../jobs/feed.ts";
import { FEED_START, type FeedPosition } from "../../jobs/feed-position.ts";
import type { JobWait, JobWaiting } from "../../jobs/job-waiting.ts";
import type { Identity } from "../../accounts/identity.ts";
import type { HttpDeps } from "../http-deps.ts";
import { piecesOfParts, type JsonPart } from "../middleware/json-response.ts";

/** Text of complete events; in parts if it has a large value; "" for an item that the stream omits. */
export type EncodedEvent = string | readonly JsonPart[];

export interface FeedEncoder {
  /** Written before the first item. */
  readonly prologue: string;
  /** @param reader Has the position after the item, which costs more to compute than a token's text. */
  item(item: FeedItem, reader: { readonly position: FeedPosition }): EncodedEvent;
  ending(ending: FeedEnding, position: FeedPosition): EncodedEvent;
  /** Encodes an event that follows each comment on why the job waits; it does not move the position. */
  waiting?(why: JobWait, position: FeedPosition): string;
  /** Encodes the last event of a stream whose feed is cut. Absent: clients resume the stream. */
  cut?(because: CutReason): string;
}

interface FeedStream {
  readonly feed: Feed;
  /** Position of the client. Default: the start. */
  readonly after?: FeedPosition;
  readonly encoder: FeedEncoder;
  readonly response: ServerResponse;
  /** Called when the feed is cut. */
  readonly onCut?: (() => void) | undefined;
  /** Whether the response already has its headers, because another feed comes before this one. */
  readonly isContinued?: boolean | undefined;
  /** Called after `done` instead of ending the stream, because another feed follows. */
  readonly onDone?: (() => void) | undefined;
}

interface RelayOptions extends FeedStream {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** Null for an ended job. */
  readonly explain: () => Promise<JobWait | null>;
  /** Whether the credential is still valid; called at every heartbeat. False cuts the stream; a rejection does not. */
  readonly mayRead: () => Promise<boolean>;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** Interval of the comments on why a job has no output, which also serve as keepalive. */
export const EXPLAIN_EVERY_MS = 5_000;
/** Keepalive: an SSE comment, which clients ignore, so that proxies do not close a silent stream. */
export const HEARTBEAT = ": heartbeat\n\n";
/** Approximate maximum of one write. A stalled reader holds one write in memory. */
const MAX_WRITE_CHARS = 16_384;
/** Unsent items above which the tokens of a stalled reader are merged. */
const MAX_ITEMS_BEHIND = 256;
const MAX_MERGED_CHARS = 16_384;

/**
 * Writes a feed to a client as it grows, directly to Node's response: one write for all items of an event-loop tick, at
 * its end. The next write waits until the system has accepted the last one, so that a reader costs its position and one
 * write. A reader that falls behind gets its tokens merged.
 */
export class FeedRelay {
  readonly #options: RelayOptions;
  readonly #cursor: FeedCursor;
  readonly #unsubscribe: () => void;
  #heartbeat: Timer;
  /** Whether the system has not accepted the last write yet. */
  #isWriting = false;
  /** Whether a write is scheduled for the end of this tick. */
  #isDue = false;
  #isMerging = false;
  #hasHeaders = false;
  #isOver = false;
  /** Comment on why the job waits that is written after the write in progress. */
  #comment = "";

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

  /** True while the feed has only states, so that the client cannot see why it waits. */
  get #isWaiting(): boolean {
    return !this.#isOver && !this.#options.feed.hasItems;
  }

  /** @param text Written before the next items. */
  #pump(text = ""): void {
    const { feed, encoder, response, onDone } = this.#options;
    // A client that resumes gets 422 position_lost.
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

  /** Returns the item; for a reader that fell behind, merged with the tokens that directly follow. */
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
    // The headers are sent with the first write.
    if (this.#hasHeaders) writeChunk(response, text, this.#onWritten);
    else response.write(text, this.#onWritten);
  }

  /** Writes as fast as the client reads. */
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
      // The job was deleted or storage failed, so the event cannot be completed.
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

  /** Writes the comment on why the job waits, or `otherwise` if the reason is unknown. */
  async #explain(otherwise = ""): Promise<void> {
    const { explain, encoder } = this.#options;
    // The job's owner may be unavailable for a moment.
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
      process.nextTick(this.#onTickEnd);
    }
  };

  readonly #onTickEnd = (): void => {
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

/** Streams a feed to the client. The stream is cut when the caller's key or session is revoked. */
export function streamFeed(
  { accounts, clock, jobs, options }: HttpDeps,
  { identity, ...stream }: FeedStream & { readonly identity: Identity },
): Response {
  const mayRead = (): Promise<boolean> => accounts.isStillValid(identity);
  const explain = (): Promise<JobWait | null> => jobs.explain(identity.accountId, stream.feed.jobId);
  void new FeedRelay({ ...stream, clock, heartbeatMs: options.heartbeatMs, explain, mayRead });
  return RESPONSE_ALREADY_SENT;
}

function commentOf({ message }: JobWaiting): string {
  // A line break would end the comment.
  return `: waiting, ${message.replaceAll(/\s+/g, " ")}\n\n`;
}

/**
 * Writes to a response whose headers are sent; `onTaken` is called when the system has accepted it. node:http makes four
 * writes of a chunk and gathers them until the next tick. One string for the socket makes a token a sixth cheaper
 * (measured with 64 streams of spaced tokens).
 */
function writeChunk(response: ServerResponse, text: string, onTaken: () => void): void {
  const { socket } = response;
  // Not for HTTP/1.0, for a response that waits for an earlier one of its connection, or for a closing connection.
  if (socket?.writable !== true || !response.chunkedEncoding) return void response.write(text, onTaken);
  const bytes = Buffer.byteLength(text);
  const isAscii = bytes === text.length;
  socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, isAscii ? "latin1" : "utf8", onTaken);
  return undefined;
}
