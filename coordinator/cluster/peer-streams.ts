import { z } from "zod";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { ServiceError } from "../../shared/errors.ts";
import { KIB } from "../../shared/format-bytes.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError } from "../bus/bus.ts";
import { isCount, MESSAGES, type Question, type Stream } from "./messages.ts";

interface PeerCalls {
  ask<Q, R>(id: string, message: Question<Q, R>, question: DeepReadonly<Q>): Promise<R>;
  handle<Q, R>(message: Question<Q, R>, handler: (question: Q, fromId: string) => DeepReadonly<R>): void;
  isLive(id: string): boolean;
}

type Frame = readonly [stream: number, seq: number, content?: unknown];
/** Stream frames sent in one message. A frame without content ends its stream. */
export type Frames = readonly Frame[];
/** Hand-written check: it runs for nearly every token. The stream validates the content of a frame. */
export const framesSchema = z.custom<Frames>(
  (frames) => Array.isArray(frames) && frames.every(isFrame),
  "Invalid frames",
);
const isFrame = (frame: unknown): boolean =>
  Array.isArray(frame) && frame.length <= 3 && isCount(frame[0]) && isCount(frame[1]);

/** Frame with its approximate size in characters. */
export interface Sized<F> {
  readonly frame: F;
  readonly chars: number;
}

export interface PeersEnv {
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** Heartbeat interval of followers. Heartbeats also find dead servers and lost frames. */
const HEARTBEAT_MS = 1_000;
/** Timeout of a stream's first frame. Later frames have no timeout: the server may wait for storage. */
const FIRST_FRAME_MS = 1_000;
/** Time for which a peer without a responder gets no requests. */
const UNREACHABLE_MS = 250;
const MAX_WAITING = 256;
/** Silence after which a follower gets no frames until it opens its streams again. */
const SILENT_MS = 5_000;
/**
 * A message with this many characters takes no more frames. Its last frame can make it three times as long. At 3 bytes
 * a character, it still fits NATS' limit of 1 MB.
 */
export const MAX_FRAME_CHARS = 64 * KIB;
/**
 * Minimum time between two messages to a follower. Frames of busy streams share messages, which cost several times as
 * much as a frame. A single frame leaves at the end of its tick.
 */
const MIN_GAP_MS = 1;

/** Error for frames that were lost or unread. The stream must be reopened from the reader's position. */
export class StreamGap extends Error {
  override readonly name = "StreamGap";
}

/** Abort reason for the streams of a silent follower, which is dead, cut off or stalled. */
export class FollowerSilent extends Error {
  override readonly name = "FollowerSilent";
  #isOver = false;
  #listeners: (() => void)[] = [];

  /** Calls `listener` when the follower sends again, before it opens a stream, or when its lease has ended. */
  onOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#listeners.push(listener);
  }

  end(): void {
    this.#isOver = true;
    for (const listener of this.#listeners) listener();
  }
}

/** A stream that this coordinator reads from a peer. */
interface Incoming {
  readonly peerId: string;
  readonly limit: Timer;
  next: number;
  readonly waiting: unknown[];
  isOver: boolean;
  fault: Error | null;
  wake: () => void;
}

/** Reads streams of peers, and keeps these streams open with heartbeats. */
export function followStreams({ ask, isLive }: Pick<PeerCalls, "ask" | "isLive">, { clock, log }: PeersEnv) {
  const streams = new Map<number, Incoming>();
  let lastNumber = 0;
  /** Peers that may still send frames: no heartbeat has closed all streams yet. */
  const senders = new Set<string>();
  const beating = new Set<string>();
  const unreachableUntilMs = new Map<string, number>();
  let timer: Timer | null = null;
  let isClosed = false;

  function end(incoming: Incoming | undefined, fault: Error | null): void {
    if (incoming === undefined || incoming.isOver) return;
    incoming.isOver = true;
    incoming.limit.cancel();
    incoming.fault = fault;
    incoming.wake();
  }

  function beatLater(): void {
    if (timer === null && !isClosed && senders.size > 0) timer = clock.schedule(HEARTBEAT_MS, beatAll);
  }

  function beatAll(): void {
    timer = null;
    const nowMs = clock.monotonicMs();
    // Each start of a coordinator has a new id, so entries of dead ones must be removed here.
    for (const [id, untilMs] of unreachableUntilMs) if (untilMs <= nowMs) unreachableUntilMs.delete(id);
    for (const id of senders) void beat(id);
    beatLater();
  }

  async function beat(peerId: string): Promise<void> {
    if (beating.has(peerId)) return;
    const wanted = [...streams].filter(([, incoming]) => incoming.peerId === peerId);
    if (wanted.length === 0) senders.delete(peerId);
    beating.add(peerId);
    try {
      const numbers = wanted.map(([number, { next }]): [number, number] => [number, next]);
      const { broken } = await ask(peerId, MESSAGES.beat, { upTo: lastNumber, streams: numbers });
      for (const number of broken) end(streams.get(number), new StreamGap("A frame was lost"));
    } catch (error) {
      for (const [, incoming] of wanted) end(incoming, error as Error);
      // The peer keeps sending until a heartbeat closes its streams.
      if (wanted.length === 0 && isLive(peerId)) {
        senders.add(peerId);
        beatLater();
      }
    } finally {
      beating.delete(peerId);
    }
  }

  async function open<Q>(peerId: string, name: string, question: Q, number: number, incoming: Incoming): Promise<void> {
    try {
      await ask(peerId, MESSAGES.open, { stream: number, name, question });
      unreachableUntilMs.delete(peerId);
    } catch (error) {
      const isGone = error instanceof BusError && error.kind === "unreachable";
      if (isGone) unreachableUntilMs.set(peerId, clock.monotonicMs() + UNREACHABLE_MS);
      // If frames arrive, only the reply was lost.
      if (incoming.next === 0) end(incoming, error as Error);
    }
  }

  /**
   * Reads a stream of a peer until it ends or `signal` aborts.
   * @throws {StreamGap} @throws {BusError} if the peer does not reply, sends no frame for a second, or an invalid one
   */
  async function* stream<Q, F>(
    peerId: string,
    message: Stream<Q, F>,
    question: DeepReadonly<Q>,
    signal: AbortSignal,
  ): AsyncGenerator<F> {
    if (signal.aborted) return;
    if ((unreachableUntilMs.get(peerId) ?? 0) > clock.monotonicMs()) {
      throw new BusError("unreachable", `Coordinator ${peerId} did not reply`);
    }
    lastNumber += 1;
    const number = lastNumber;
    const incoming: Incoming = {
      peerId,
      limit: clock.schedule(FIRST_FRAME_MS, () => {
        end(incoming, new BusError("timeout", `Coordinator ${peerId} sent no frame of ${message.name}`));
      }),
      next: 0,
      waiting: [],
      isOver: false,
      fault: null,
      wake: () => undefined,
    };
    const onAbort = (): void => end(incoming, null);
    signal.addEventListener("abort", onAbort, { once: true });
    streams.set(number, incoming);
    senders.add(peerId);
    beatLater();
    void open(peerId, message.name, question, number, incoming);
    try {
      for (;;) {
        while (incoming.waiting.length > 0) {
          if (signal.aborted) return;
          const { success, data, error } = message.frame.safeParse(incoming.waiting.shift());
          if (!success) {
            log.warn({ err: error, coordinator: peerId, subject: message.name }, "A peer sent an invalid frame");
            throw new BusError("refused", `${peerId} sent an invalid frame`, { cause: error });
          }
          yield data;
        }
        if (incoming.fault !== null) throw incoming.fault;
        if (incoming.isOver) return;
        await new Promise<void>((resolve) => (incoming.wake = resolve));
      }
    } finally {
      incoming.limit.cancel();
      signal.removeEventListener("abort", onAbort);
      streams.delete(number);
    }
  }

  return {
    stream,
    receive(frames: Frames, fromId: string): void {
      for (const frame of frames) {
        const [number, seq] = frame;
        const incoming = streams.get(number);
        if (incoming === undefined || incoming.peerId !== fromId || incoming.isOver || seq < incoming.next) continue;
        if (seq > incoming.next) end(incoming, new StreamGap("A frame was lost"));
        else if (frame.length === 2) end(incoming, null);
        else if (incoming.waiting.length >= MAX_WAITING) end(incoming, new StreamGap("The reader is too slow"));
        else {
          incoming.limit.cancel();
          incoming.next += 1;
          incoming.waiting.push(frame[2]);
          incoming.wake();
        }
      }
    },
    noteReachable(peerId: string): void {
      unreachableUntilMs.delete(peerId);
    },
    close(): void {
      isClosed = true;
      timer?.cancel();
      for (const incoming of streams.values()) end(incoming, null);
    },
  };
}

/** A stream that this coordinator sends to a follower. */
interface Outgoing {
  readonly number: number;
  readonly abort: AbortController;
  sent: number;
  /** Number of frames sent before the last heartbeat. The follower must have them at the next heartbeat. */
  expected: number;
}

/** A peer that reads streams of this coordinator. */
interface Follower {
  readonly id: string;
  readonly streams: Map<number, Outgoing>;
  receivedMs: number;
  silence: FollowerSilent | null;
  readonly due: { readonly frame: Frame; readonly chars: number; readonly left: () => void }[];
  isScheduled: boolean;
  sentMs: number;
  timer: Timer | null;
}

/** Sends streams to the peers that open them. */
export function serveStreams(
  { handle, isLive }: Pick<PeerCalls, "handle" | "isLive">,
  send: (toId: string, frames: Frames) => void,
  { clock, log }: PeersEnv,
) {
  type Begin = (question: unknown, fromId: string, signal: AbortSignal) => AsyncIterable<Sized<unknown>>;
  const served = new Map<string, Begin>();
  const followers = new Map<string, Follower>();
  let timer: Timer | null = null;
  let isClosed = false;

  function endSilence(follower: Follower): void {
    follower.silence?.end();
    follower.silence = null;
  }

  function recordActivity(id: string): Follower | undefined {
    const follower = followers.get(id);
    if (follower === undefined) return undefined;
    follower.receivedMs = clock.monotonicMs();
    endSilence(follower);
    return follower;
  }

  function followerOf(id: string): Follower {
    const known = recordActivity(id);
    if (known !== undefined) return known;
    const follower: Follower = {
      id,
      streams: new Map(),
      receivedMs: clock.monotonicMs(),
      silence: null,
      due: [],
      isScheduled: false,
      sentMs: -Infinity,
      timer: null,
    };
    followers.set(id, follower);
    timer ??= clock.schedule(SILENT_MS, sweep);
    return follower;
  }

  function drop(follower: Follower, { number, abort }: Outgoing, reason?: Error): void {
    follower.streams.delete(number);
    abort.abort(reason);
  }

  function sweep(): void {
    const untilMs = clock.monotonicMs() - SILENT_MS;
    for (const follower of followers.values()) {
      if (follower.silence === null && follower.receivedMs <= untilMs) {
        if (follower.streams.size === 0) {
          followers.delete(follower.id);
          continue;
        }
        follower.silence = new FollowerSilent("The follower is silent");
        for (const out of follower.streams.values()) drop(follower, out, follower.silence);
      }
      if (follower.silence === null || isLive(follower.id)) continue;
      endSilence(follower);
      followers.delete(follower.id);
    }
    timer = followers.size === 0 ? null : clock.schedule(SILENT_MS, sweep);
  }

  /** Queues a frame. Resolves when it was sent: at once if it fills a message or is the first frame of its stream. */
  function enqueue(follower: Follower, frame: Frame, chars: number): Promise<void> {
    return new Promise((left) => {
      follower.due.push({ frame, chars, left });
      const isUrgent = frame[1] === 0 || chars >= MAX_FRAME_CHARS;
      if (follower.isScheduled && !isUrgent) return;
      follower.isScheduled = true;
      const waitMs = follower.sentMs + MIN_GAP_MS - clock.monotonicMs();
      if (waitMs <= 0 || isUrgent) process.nextTick(flush, follower);
      else follower.timer = clock.schedule(waitMs, () => flush(follower));
    });
  }

  function flush(follower: Follower): void {
    follower.isScheduled = false;
    follower.timer?.cancel();
    follower.sentMs = clock.monotonicMs();
    let frames: Frame[] = [];
    let size = 0;
    for (const { frame, chars, left } of follower.due.splice(0)) {
      frames.push(frame);
      size += chars;
      left();
      if (size < MAX_FRAME_CHARS) continue;
      send(follower.id, frames);
      [frames, size] = [[], 0];
    }
    if (frames.length > 0) send(follower.id, frames);
  }

  async function pump(follower: Follower, out: Outgoing, frames: AsyncIterable<Sized<unknown>>): Promise<void> {
    const { signal } = out.abort;
    try {
      for await (const { frame, chars } of frames) {
        if (signal.aborted) return;
        const seq = out.sent;
        out.sent += 1;
        await enqueue(follower, [out.number, seq, frame], chars);
      }
    } catch (error) {
      const isExpected = error instanceof ServiceError;
      if (!isExpected) log.warn({ err: error, coordinator: follower.id }, "Stream to a peer failed");
    }
    if (signal.aborted) return;
    follower.streams.delete(out.number);
    void enqueue(follower, [out.number, out.sent], 0);
  }

  handle(MESSAGES.open, ({ stream: number, name, question }, fromId) => {
    const begin = served.get(name);
    if (begin === undefined || isClosed) throw new Error(`Unknown stream ${name}`);
    const follower = followerOf(fromId);
    // The request arrived twice.
    if (follower.streams.has(number)) return null;
    const out: Outgoing = { number, abort: new AbortController(), sent: 0, expected: 0 };
    const frames = begin(question, fromId, out.abort.signal);
    follower.streams.set(number, out);
    void pump(follower, out, frames);
    return null;
  });
  handle(MESSAGES.beat, ({ upTo, streams }, fromId) => {
    const follower = recordActivity(fromId);
    if (follower === undefined) return { broken: streams.map(([number]) => number) };
    const wanted = new Map(streams);
    for (const out of follower.streams.values()) if (out.number <= upTo && !wanted.has(out.number)) drop(follower, out);
    const broken = streams.filter(([number, next]) => {
      const out = follower.streams.get(number);
      if (out === undefined || next < out.expected) return true;
      out.expected = out.sent;
      return false;
    });
    return { broken: broken.map(([number]) => number) };
  });

  /**
   * Sends the frames that `handler` yields to each peer that opens the stream. After an abort, `handler` must end soon.
   */
  function serve<Q, F>(
    message: Stream<Q, F>,
    handler: (question: Q, fromId: string, signal: AbortSignal) => AsyncIterable<Sized<DeepReadonly<F>>>,
  ): void {
    served.set(message.name, (question, fromId, signal) => handler(message.question.parse(question), fromId, signal));
  }

  return {
    serve,
    /** Ends all streams; their followers look up the owner again. */
    close(): void {
      isClosed = true;
      timer?.cancel();
      for (const follower of followers.values()) {
        for (const out of follower.streams.values()) {
          void enqueue(follower, [out.number, out.sent], 0);
          drop(follower, out);
        }
        flush(follower);
      }
      followers.clear();
    },
  };
}
