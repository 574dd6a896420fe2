import { z } from "zod";
import type { Clock, Timer } from "../../shared/clock.ts";
import type { DeepReadonly } from "../../shared/deep-readonly.ts";
import { ServiceError } from "../../shared/errors.ts";
import { KIB } from "../../shared/format-bytes.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError } from "../bus/bus.ts";
import { isCount, M, type Question, type Stream } from "./messages.ts";

interface PeerCalls {
  ask<Q, R>(id: string, message: Question<Q, R>, question: DeepReadonly<Q>): Promise<R>;
  answer<Q, R>(message: Question<Q, R>, handler: (question: Q, fromId: string) => DeepReadonly<R>): void;
  isLive(id: string): boolean;
}

type Frame = readonly [stream: number, seq: number, content?: unknown];
/** Frames of streams that leave in one message. One without content ends its stream. */
export type Frames = readonly Frame[];
/** A check by hand, because nearly every token that is read elsewhere is a message. The stream checks what a frame contains. */
export const framesSchema = z.custom<Frames>(
  (frames) =>
    Array.isArray(frames) &&
    frames.every(
      (frame: unknown) => Array.isArray(frame) && frame.length <= 3 && isCount(frame[0]) && isCount(frame[1]),
    ),
  "Invalid frames",
);

/** What a stream's server sends: `chars` is about its size. */
export interface Sized<F> {
  readonly frame: F;
  readonly chars: number;
}

interface StreamEnv {
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

/** How often followers say what they want. It also finds servers that died, and frames that were lost. */
const BEAT_MS = 1_000;
/** A stream's first frame is not waited for any longer: the server may wait for storage. */
const FIRST_FRAME_MS = 1_000;
/** A server that could not be reached is not asked again before. */
const UNREACHABLE_MS = 250;
/** Frames that wait for a slow reader. */
const MAX_WAITING = 256;
/** A follower that is silent for so long gets nothing until it opens its streams again. */
const SILENT_MS = 5_000;
/** Characters of a message before its last frame. With a frame of twice as many, three bytes each, it is below NATS' 1 MB. */
export const MAX_FRAME_CHARS = 64 * KIB;
/**
 * Time between two messages to a follower. A frame that comes alone leaves at the end of its tick; when there are many, those of all streams
 * share messages, which cost several times what a frame in them costs.
 */
const MIN_GAP_MS = 1;

/** Frames of a stream were lost, or came faster than they were read: it is to be opened again from where its reader is. */
export class StreamGap extends Error {
  override readonly name = "StreamGap";
}

/** Ends the streams of a silent follower: it is dead, cut off or stands still. */
export class FollowerSilent extends Error {
  override readonly name = "FollowerSilent";
  #isOver = false;
  #listeners: (() => void)[] = [];

  /** Calls `listener` when the follower is heard again, before it opens a stream, or has no lease any more. */
  onOver(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#listeners.push(listener);
  }

  end(): void {
    this.#isOver = true;
    for (const listener of this.#listeners) listener();
  }
}

interface Incoming {
  readonly peerId: string;
  /** Ends the stream unless a frame comes. */
  readonly limit: Timer;
  /** Number of the next frame. */
  next: number;
  readonly waiting: unknown[];
  isOver: boolean;
  fault: Error | null;
  wake: () => void;
}

/** Streams of peers that are read here. */
export function followStreams({ ask, isLive }: Pick<PeerCalls, "ask" | "isLive">, { clock, log }: StreamEnv) {
  const streams = new Map<number, Incoming>();
  let lastNumber = 0;
  /** Peers that were not told yet that nothing is wanted. */
  const asked = new Set<string>();
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
    if (timer === null && !isClosed && asked.size > 0) timer = clock.schedule(BEAT_MS, beatAll);
  }

  function beatAll(): void {
    timer = null;
    const nowMs = clock.monotonicMs();
    // Each start of a coordinator has another id, so those that died would never leave.
    for (const [id, untilMs] of unreachableUntilMs) if (untilMs <= nowMs) unreachableUntilMs.delete(id);
    for (const id of asked) void beat(id);
    beatLater();
  }

  async function beat(peerId: string): Promise<void> {
    if (beating.has(peerId)) return;
    const wanted = [...streams].filter(([, incoming]) => incoming.peerId === peerId);
    if (wanted.length === 0) asked.delete(peerId);
    beating.add(peerId);
    try {
      const numbers = wanted.map(([number, { next }]): [number, number] => [number, next]);
      const { broken } = await ask(peerId, M.beat, { upTo: lastNumber, streams: numbers });
      for (const number of broken) end(streams.get(number), new StreamGap("A frame was lost"));
    } catch (error) {
      for (const [, incoming] of wanted) end(incoming, error as Error);
      // It sends what is wanted no more until it hears so.
      if (wanted.length === 0 && isLive(peerId)) {
        asked.add(peerId);
        beatLater();
      }
    } finally {
      beating.delete(peerId);
    }
  }

  async function open<Q>(peerId: string, name: string, question: Q, number: number, incoming: Incoming): Promise<void> {
    try {
      await ask(peerId, M.open, { stream: number, name, question });
      unreachableUntilMs.delete(peerId);
    } catch (error) {
      const isGone = error instanceof BusError && error.kind === "unreachable";
      if (isGone) unreachableUntilMs.set(peerId, clock.monotonicMs() + UNREACHABLE_MS);
      // Where frames come, only the reply was lost.
      if (incoming.next === 0) end(incoming, error as Error);
    }
  }

  /**
   * Reads a stream of a peer until it ends or `signal` aborts. After an error it may be opened again, from where its reader is.
   * @throws {StreamGap} @throws {BusError} when the peer does not answer, sends no frame for a second, or a frame is invalid.
   */
  async function* stream<Q, F>(
    peerId: string,
    message: Stream<Q, F>,
    question: DeepReadonly<Q>,
    signal: AbortSignal,
  ): AsyncGenerator<F> {
    if (signal.aborted) return;
    if ((unreachableUntilMs.get(peerId) ?? 0) > clock.monotonicMs()) {
      throw new BusError("unreachable", `Coordinator ${peerId} did not answer`);
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
    asked.add(peerId);
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
    noteHeard(peerId: string): void {
      unreachableUntilMs.delete(peerId);
    },
    close(): void {
      isClosed = true;
      timer?.cancel();
      for (const incoming of streams.values()) end(incoming, null);
    },
  };
}

interface Outgoing {
  readonly number: number;
  readonly abort: AbortController;
  sent: number;
  /** Frames that the follower must have at its next beat: they were sent before its last one. */
  expected: number;
}

interface Follower {
  readonly id: string;
  readonly streams: Map<number, Outgoing>;
  heardMs: number;
  silence: FollowerSilent | null;
  readonly due: { readonly frame: Frame; readonly chars: number; readonly left: () => void }[];
  isScheduled: boolean;
  sentMs: number;
  timer: Timer | null;
}

/** Streams from here to peers. */
export function serveStreams(
  { answer, isLive }: Pick<PeerCalls, "answer" | "isLive">,
  send: (toId: string, frames: Frames) => void,
  { clock, log }: StreamEnv,
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

  function heard(id: string): Follower | undefined {
    const follower = followers.get(id);
    if (follower === undefined) return undefined;
    follower.heardMs = clock.monotonicMs();
    endSilence(follower);
    return follower;
  }

  function followerOf(id: string): Follower {
    const known = heard(id);
    if (known !== undefined) return known;
    const follower: Follower = {
      id,
      streams: new Map(),
      heardMs: clock.monotonicMs(),
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
      if (follower.silence === null && follower.heardMs <= untilMs) {
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

  /** Resolves when the frame has left. It is not kept for others if it fills a message, or is its stream's first, which is waited for. */
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
      if (!isExpected) log.warn({ err: error, coordinator: follower.id }, "A stream to a peer failed");
    }
    if (signal.aborted) return;
    follower.streams.delete(out.number);
    void enqueue(follower, [out.number, out.sent], 0);
  }

  answer(M.open, ({ stream: number, name, question }, fromId) => {
    const begin = served.get(name);
    if (begin === undefined || isClosed) throw new Error(`There is no stream ${name} here`);
    const follower = followerOf(fromId);
    // A question that came twice.
    if (follower.streams.has(number)) return null;
    const out: Outgoing = { number, abort: new AbortController(), sent: 0, expected: 0 };
    const frames = begin(question, fromId, out.abort.signal);
    follower.streams.set(number, out);
    void pump(follower, out, frames);
    return null;
  });
  answer(M.beat, ({ upTo, streams }, fromId) => {
    const follower = heard(fromId);
    const wanted = new Map(streams);
    for (const out of follower?.streams.values() ?? [])
      if (out.number <= upTo && !wanted.has(out.number) && follower !== undefined) drop(follower, out);
    const broken = streams.filter(([number, next]) => {
      const out = follower?.streams.get(number);
      if (out === undefined || next < out.expected) return true;
      out.expected = out.sent;
      return false;
    });
    return { broken: broken.map(([number]) => number) };
  });

  /** Sends what `handler` yields to each peer that asks, until that wants no more: `signal` aborts then, and it must soon end. */
  function serve<Q, F>(
    message: Stream<Q, F>,
    handler: (question: Q, fromId: string, signal: AbortSignal) => AsyncIterable<Sized<DeepReadonly<F>>>,
  ): void {
    served.set(message.name, (question, fromId, signal) => handler(message.question.parse(question), fromId, signal));
  }

  return {
    serve,
    /** Ends all streams: their followers look elsewhere. */
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
