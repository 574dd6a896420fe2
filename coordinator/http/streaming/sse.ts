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
export function relayFeed(options: RelayOptions): void {
  const { feed, encoder, response, clock, heartbeatMs, onDone } = options;
  const cursor = new FeedCursor(feed, options.after ?? FEED_START);
  /** Whether the system has not accepted the last write yet. */
  let isWriting = false;
  /** Whether a write is scheduled for the end of this tick. */
  let isDue = false;
  let isMerging = false;
  let hasHeaders = options.isContinued === true;
  let isOver = false;
  /** Comment on why the job waits that is written after the write in progress. */
  let pendingComment = "";

  /** Returns true while the feed has only states, so that the client cannot see why it waits. */
  function isWaiting(): boolean {
    return !isOver && !feed.hasItems;
  }

  /** @param text Written before the next items. */
  function pump(text = ""): void {
    // A client that resumes gets 422 position_lost.
    if (cursor.isLost || feed.cutBecause === "lost") return endCut("", "lost");
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
    } else if (isAtEnd && feed.cutBecause !== null) endCut(text, feed.cutBecause);
    else if (text !== "") write(text);
    return undefined;
  }

  function endCut(text: string, because: CutReason): void {
    release();
    response.end(text + (encoder.cut?.(because) ?? ""));
    options.onCut?.();
  }

  function write(text: string): void {
    isWriting = true;
    // The headers are sent with the first write.
    if (hasHeaders) writeChunk(response, text, onWritten);
    else response.write(text, onWritten);
  }

  /** Writes as fast as the client reads. */
  function writeParts(parts: readonly JsonPart[], isLast: boolean): void {
    isWriting = true;
    sendParts(parts).then(
      () => {
        if (isOver) return;
        if (!isLast) return onWritten();
        release();
        response.end();
      },
      // The job was deleted or storage failed, so the event cannot be completed.
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

  /** Writes the comment on why the job waits, or `otherwise` if the reason is unknown. */
  async function explain(otherwise = ""): Promise<void> {
    // The job's owner may be unavailable for a moment.
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

  response.on("close", release);
  const unsubscribe = feed.subscribe(onChange);
  let heartbeat = scheduleHeartbeat();
  if (response.destroyed) return release();
  if (!hasHeaders) response.writeHead(200, SSE_HEADERS);
  pump(encoder.prologue);
  if (!isOver && !hasHeaders) response.flushHeaders();
  hasHeaders = true;
  if (isWaiting()) void explain();
  return undefined;
}

/** Merges a token with the tokens that directly follow it; returns other items unchanged. */
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
  // A line break would end the comment.
  return `: waiting, ${message.replaceAll(/\s+/g, " ")}\n\n`;
}

/**
 * Writes to a response whose headers are sent; `onTaken` is called when the system has accepted it. node:http makes
 * four writes of a chunk and gathers them until the next tick. One string for the socket makes a token a sixth cheaper
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
