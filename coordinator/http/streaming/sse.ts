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

/** Text of complete events; in parts if an event has a large value; "" for an item that the stream omits. */
export type EncodedEvent = string | readonly JsonPart[];

export interface FeedEncoder {
  readonly prologue: string;
  /**
   * Encodes an item.
   * @param reader `position` is the position after the item. Reading it costs more than encoding a token.
   */
  item(item: FeedItem, reader: { readonly position: FeedPosition }): EncodedEvent;
  ending(ending: FeedEnding, position: FeedPosition): EncodedEvent;
  /** Encodes an event after the SSE comment on why the job waits. The event does not change the client's position. */
  waiting?(why: JobWait, position: FeedPosition): string;
  /** Encodes the last event of a stream whose feed is cut. Absent if clients resume the stream instead. */
  cut?(reason: CutReason): string;
}

interface FeedStream {
  readonly feed: Feed;
  /** Position after which the client wants to read. Default: the start of the feed. */
  readonly after?: FeedPosition;
  readonly encoder: FeedEncoder;
  readonly response: ServerResponse;
  /** Called after the stream of a cut feed has ended. */
  readonly onCut?: (() => void) | undefined;
  /** Whether the response already has its headers: it streamed another feed before this one. */
  readonly isContinued?: boolean | undefined;
  /** Called after `done`; the stream then stays open for another feed. Without it, `done` ends the stream. */
  readonly onDone?: (() => void) | undefined;
}

interface RelayOptions extends FeedStream {
  readonly clock: Clock;
  readonly heartbeatMs: number;
  /** Returns why the job waits; null for an ended job. */
  readonly explain: () => Promise<JobWait | null>;
  /** Returns whether the credential is still valid, at every heartbeat. False cuts the stream; a rejection does not. */
  readonly mayRead: () => Promise<boolean>;
}

export const SSE_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
} as const;

/** Interval of SSE comments on why a job has no output, which also serve as keepalive. */
export const EXPLAIN_EVERY_MS = 5_000;
/** Keepalive: an SSE comment, which clients ignore, so that proxies do not close a silent stream. */
export const HEARTBEAT = ": heartbeat\n\n";
/** Approximate maximum of one write in characters. A stalled reader keeps one write in memory. */
const MAX_WRITE_CHARS = 16_384;
/** Unsent items above which the tokens of a stalled reader are merged. */
const MAX_ITEMS_BEHIND = 256;
const MAX_MERGED_CHARS = 16_384;

/**
 * Writes a feed to a client as it grows, directly to Node's response. At the end of an event-loop tick, all new items
 * are written together. The next write waits until the operating system has accepted the last one, so a reader needs
 * memory only for its position and one write. The tokens of a reader that falls behind are merged.
 */
export function relayFeed(options: RelayOptions): void {
  const { feed, encoder, response, clock, heartbeatMs, onDone } = options;
  const cursor = new FeedCursor(feed, options.after ?? FEED_START);
  /** True until the operating system has accepted the last write. */
  let isWriting = false;
  /** Whether a write is scheduled for the end of this tick. */
  let isDue = false;
  let isMerging = false;
  let hasHeaders = options.isContinued === true;
  let isOver = false;
  /** SSE comment to write when the write in progress ends; empty without one. */
  let pendingComment = "";

  /** Returns true while the feed has no output, so that the client cannot see why the job waits. */
  function isWaiting(): boolean {
    return !isOver && !feed.hasItems;
  }

  /**
   * Writes the items that the client has not got, and the end of the feed if it is reached.
   * @param text Text that is written before the items.
   */
  function pump(text = ""): void {
    // The rest of the feed is lost. A client that resumes the stream gets 422 position_lost.
    if (cursor.isLost || feed.cutReason === "lost") return endCut("", "lost");
    while (text.length < MAX_WRITE_CHARS) {
      const item = cursor.take();
      if (item === undefined) break;
      const event = encoder.item(isMerging ? mergeTokens(item, cursor) : item, cursor);
      if (typeof event !== "string") return writeParts([text, ...event], false);
      text += event;
    }
    const isAtEnd = cursor.peek() === undefined;
    if (isAtEnd) isMerging = false;
    if (isAtEnd && feed.ending !== null) {
      const event = encoder.ending(feed.ending, { ...cursor.position, ended: true });
      if (typeof event !== "string") return writeParts([text, ...event], true);
      release();
      if (feed.ending.type === "done" && onDone !== undefined) response.write(text + event, () => onDone());
      else response.end(text + event);
    } else if (isAtEnd && feed.cutReason !== null) endCut(text, feed.cutReason);
    else if (text !== "") write(text);
    return undefined;
  }

  function endCut(text: string, reason: CutReason): void {
    release();
    response.end(text + (encoder.cut?.(reason) ?? ""));
    options.onCut?.();
  }

  function write(text: string): void {
    isWriting = true;
    // `response.write` sends the headers together with the first text.
    if (hasHeaders) writeChunk(response, text, onWritten);
    else response.write(text, onWritten);
  }

  /** Writes an event with a large value, reading each part from storage when the client has read the last one. */
  function writeParts(parts: readonly JsonPart[], isLast: boolean): void {
    isWriting = true;
    sendParts(parts).then(
      () => {
        if (isOver) return;
        if (!isLast) return onWritten();
        release();
        response.end();
      },
      // The job was deleted or storage failed, so that the event cannot be completed.
      () => response.destroy(),
    );
  }

  async function sendParts(parts: readonly JsonPart[]): Promise<void> {
    for await (const piece of piecesOfParts(parts)) {
      if (isOver) return;
      if (piece !== "") await new Promise<void>((resolve) => void response.write(piece, () => resolve()));
    }
  }

  function scheduleHeartbeat(): Timer {
    return clock.schedule(isWaiting() ? Math.min(heartbeatMs, EXPLAIN_EVERY_MS) : heartbeatMs, () => {
      if (isWaiting()) void explain(HEARTBEAT);
      else if (!isWriting) write(HEARTBEAT);
      heartbeat = scheduleHeartbeat();
      void cutOffUnlessMayRead();
    });
  }

  /** Writes the SSE comment on why the job waits, or `otherwise` if the reason is unknown. */
  async function explain(otherwise = ""): Promise<void> {
    // The coordinator that owns the job may be unavailable: the reason is then unknown until the next heartbeat.
    const why = await options.explain().catch(() => null);
    if (!isWaiting()) return;
    const text =
      why?.waiting == null ? otherwise : commentOf(why.waiting) + (encoder.waiting?.(why, cursor.position) ?? "");
    if (isWriting) pendingComment = text;
    else if (text !== "") write(text);
  }

  async function cutOffUnlessMayRead(): Promise<void> {
    if (!(await options.mayRead().catch(() => true))) response.destroy();
  }

  function onChange(): void {
    if (isWriting || isDue) {
      isMerging ||= cursor.behind > MAX_ITEMS_BEHIND;
    } else {
      isDue = true;
      process.nextTick(onTickEnd);
    }
  }

  function onTickEnd(): void {
    isDue = false;
    if (!isWriting && !isOver) pump();
  }

  function onWritten(): void {
    isWriting = false;
    const comment = pendingComment;
    pendingComment = "";
    if (!isOver) pump(comment);
  }

  function release(): void {
    isOver = true;
    unsubscribe();
    heartbeat.cancel();
    response.off("close", release);
  }

  const unsubscribe = feed.subscribe(onChange);
  let heartbeat = scheduleHeartbeat();
  response.on("close", release);
  if (response.destroyed) return release();
  if (!hasHeaders) response.writeHead(200, SSE_HEADERS);
  pump(encoder.prologue);
  if (!isOver && !hasHeaders) response.flushHeaders();
  hasHeaders = true;
  if (isWaiting()) void explain();
  return undefined;
}

/** Merges a token with the tokens that directly follow it. Returns any other item unchanged. */
function mergeTokens(first: FeedItem, cursor: FeedCursor): FeedItem {
  if (first.type !== "token") return first;
  let { content, count } = first;
  let logprobs = first.logprobs ?? [];
  for (let next = cursor.peek(); next?.type === "token"; next = cursor.peek()) {
    if (content.length + next.content.length > MAX_MERGED_CHARS) break;
    cursor.take();
    content += next.content;
    count += next.count;
    if (next.logprobs !== undefined) logprobs = [...logprobs, ...next.logprobs];
  }
  return { type: "token", content, count, ...(logprobs.length > 0 && { logprobs }) };
}

/** Streams a feed to the client. The stream is cut when the caller's key or session is revoked. */
export function streamFeed(
  { accounts, clock, jobs, options }: HttpDeps,
  { identity, ...stream }: FeedStream & { readonly identity: Identity },
): Response {
  const mayRead = (): Promise<boolean> => accounts.isStillValid(identity);
  const explain = (): Promise<JobWait | null> => jobs.explain(identity.accountId, stream.feed.jobId);
  relayFeed({ ...stream, clock, heartbeatMs: options.heartbeatMs, explain, mayRead });
  return RESPONSE_ALREADY_SENT;
}

function commentOf({ message }: JobWaiting): string {
  // A line break would end the SSE comment.
  return `: waiting, ${message.replaceAll(/\s+/g, " ")}\n\n`;
}

/**
 * Writes to a response whose headers are sent, and calls `onTaken` when the operating system has accepted the text. For
 * each chunk, `response.write` makes four small writes, which node:http gathers until the next tick. One write to the
 * socket instead makes a token a sixth cheaper (measured with 64 streams of spaced tokens).
 */
function writeChunk(response: ServerResponse, text: string, onTaken: () => void): void {
  const { socket } = response;
  // Node must write for HTTP/1.0, for a response that waits for an earlier one, and on a closing connection.
  if (socket?.writable !== true || !response.chunkedEncoding) return void response.write(text, onTaken);
  const bytes = Buffer.byteLength(text);
  const isAscii = bytes === text.length;
  socket.write(`${bytes.toString(16)}\r\n${text}\r\n`, isAscii ? "latin1" : "utf8", onTaken);
  return undefined;
}
