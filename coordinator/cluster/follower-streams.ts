import type { Clock, Timer } from "../../shared/clock.ts";
import { KIB } from "../../shared/format-bytes.ts";
import type { Feed } from "../jobs/feed.ts";
import type { FeedTail } from "../jobs/feed-tail.ts";
import { toWire, type FeedFrames, type RenewFeeds } from "./feed-messages.ts";

/** Characters of one slice, and of a message before its last slice. With a slice of twice as many, three bytes each, it is below NATS' 1 MB. */
export const MAX_SLICE_CHARS = 64 * KIB;
/**
 * Time between two messages to a follower. A token that comes alone leaves at the end of its turn; when there are many, those of all jobs
 * share messages, which cost several times what a token in them costs.
 */
const MIN_GAP_MS = 1;

/** A feed that is being sent to one follower. */
interface PublishedStream {
  readonly number: number;
  readonly jobId: string;
  readonly feed: Feed;
  readonly tail: FeedTail;
  readonly unsubscribe: () => void;
  /** What the follower must have when it renews the next time: it was sent before it renewed last. */
  expected: number;
  /** The job is another coordinator's by now. */
  isGone: boolean;
}

export interface FollowerStreamsDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly send: (message: FeedFrames) => void;
}

/** The feeds that one other coordinator follows, and when messages to it leave. */
export class FollowerStreams {
  readonly #deps: FollowerStreamsDeps;
  readonly #streams = new Map<number, PublishedStream>();
  readonly #due = new Set<PublishedStream>();
  #renewedMs: number;
  #sentMs = -Infinity;
  #isScheduled = false;
  #timer: Timer | null = null;

  constructor(deps: FollowerStreamsDeps) {
    this.#deps = deps;
    this.#renewedMs = deps.clock.monotonicMs();
  }

  /** When the follower said last what it wants, by the monotonic clock. */
  get renewedMs(): number {
    return this.#renewedMs;
  }

  /** Ids of the jobs whose feeds it follows. */
  get jobIds(): readonly string[] {
    return [...this.#streams.values()].map(({ jobId }) => jobId);
  }

  /** What comes after `tail` is sent from now on. */
  add(number: number, feed: Feed, tail: FeedTail): void {
    this.#remove(number);
    this.#renewedMs = this.#deps.clock.monotonicMs();
    const unsubscribe = feed.subscribe(() => this.#mark(stream));
    const expected = sentOf(tail);
    const stream: PublishedStream = {
      number,
      jobId: feed.jobId,
      feed,
      tail,
      unsubscribe,
      expected,
      isGone: false,
    };
    this.#streams.set(number, stream);
    if (!tail.isAtEnd) this.#mark(stream);
  }

  /** Goes on with what the follower still wants. Returns the streams that it must open anew. */
  renew({ upTo, streams }: RenewFeeds): number[] {
    this.#renewedMs = this.#deps.clock.monotonicMs();
    const wanted = new Map(streams);
    for (const number of this.#streams.keys()) if (number <= upTo && !wanted.has(number)) this.#remove(number);
    return streams.filter(([number, next]) => !this.#isWhole(number, next)).map(([number]) => number);
  }

  /** The job is not this coordinator's any more: the follower looks for its owner. */
  drop(jobId: string): void {
    for (const stream of this.#streams.values()) {
      if (stream.jobId !== jobId || stream.feed.ending !== null) continue;
      stream.isGone = true;
      this.#mark(stream);
    }
  }

  /** Sends nothing more. */
  clear(): void {
    this.#timer?.cancel();
    for (const number of this.#streams.keys()) this.#remove(number);
  }

  /** Tells the follower that all is over here, and sends nothing more. */
  close(): void {
    const frames = [...this.#streams.keys()].map((number) => [number, null] as const);
    if (frames.length > 0) this.#deps.send({ frames });
    this.clear();
  }

  #isWhole(number: number, next: number): boolean {
    const stream = this.#streams.get(number);
    if (stream === undefined || next < stream.expected) return false;
    stream.expected = sentOf(stream.tail);
    return true;
  }

  #remove(number: number): void {
    const stream = this.#streams.get(number);
    if (stream === undefined) return;
    stream.unsubscribe();
    this.#streams.delete(number);
    this.#due.delete(stream);
  }

  #mark(stream: PublishedStream): void {
    this.#due.add(stream);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const waitMs = this.#sentMs + MIN_GAP_MS - this.#deps.clock.monotonicMs();
    if (waitMs <= 0) process.nextTick(this.#flush);
    else this.#timer = this.#deps.clock.schedule(waitMs, this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    this.#sentMs = this.#deps.clock.monotonicMs();
    let frames: FeedFrames["frames"][number][] = [];
    let chars = 0;
    for (const stream of [...this.#due]) {
      this.#due.delete(stream);
      for (let slice = take(stream); slice !== null; slice = take(stream)) {
        frames.push([stream.number, toWire(slice)]);
        chars += slice.chars;
        if (chars < MAX_SLICE_CHARS) continue;
        this.#deps.send({ frames });
        frames = [];
        chars = 0;
      }
      if (this.#isOver(stream)) frames.push([stream.number, null]);
    }
    if (frames.length > 0) this.#deps.send({ frames });
  };

  /** True if the stream cannot go on, and is removed. One that waits for a large value to be stored goes on by itself. */
  #isOver(stream: PublishedStream): boolean {
    const blockedBy = stream.isGone ? "gone" : stream.tail.blockedBy(MAX_SLICE_CHARS);
    if (blockedBy === null) return false;
    if (typeof blockedBy === "string") {
      this.#remove(stream.number);
      return true;
    }
    void blockedBy.then(() => this.#streams.get(stream.number) === stream && this.#mark(stream));
    return false;
  }
}

function take({ tail, isGone }: PublishedStream): ReturnType<FeedTail["take"]> {
  return isGone ? null : tail.take(MAX_SLICE_CHARS);
}

/** What was sent, the end counted as an item. */
function sentOf(tail: FeedTail): number {
  return tail.place.index + (tail.isOver ? 1 : 0);
}
