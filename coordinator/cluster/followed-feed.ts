import type { Clock } from "../../shared/clock.ts";
import { ClusterUnavailableError, ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { BusError } from "../bus/bus.ts";
import type { CutReason, Feed } from "../jobs/feed.ts";
import type { FeedMirror } from "../jobs/feed-mirror.ts";
import { FeedTail, type FeedSlice } from "../jobs/feed-tail.ts";
import { memoryBytesOf } from "../jobs/output-size.ts";
import type { LargeJson, LargeRef } from "../store/large-json.ts";
import { fromWire, type OpenedFeed, type OpenFeed, type WireSlice } from "./feed-messages.ts";

export interface FollowedFeedDeps {
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "warn">;
  /** Undefined for a job that has ended. */
  readonly ownerOf: (jobId: string) => Promise<string | undefined>;
  /** Whether an owner may be asked now: this coordinator itself always, others while the bus works. */
  readonly canReach: (ownerId: string) => boolean;
  /** @throws {BusError} */
  readonly open: (ownerId: string, request: Omit<OpenFeed, "follower">) => Promise<OpenedFeed>;
  readonly readStored: (jobId: string) => Promise<Feed | undefined>;
  readonly large: (jobId: string, ref: LargeRef) => LargeJson;
  /** A number for what `feed` opens now. It is reached by it until {@link endStream}. */
  readonly newStream: (feed: FollowedFeed) => number;
  readonly endStream: (stream: number) => void;
  /** The copy has grown. False if there is no memory for it. */
  readonly onGrown: (feed: FollowedFeed, bytes: number) => boolean;
  /** Called once, when the feed needs nothing more. */
  readonly onOver: (feed: FollowedFeed) => void;
}

/** An owner that does not answer is looked up again after these, the last one again and again. */
const RETRIES_MS = [10, 25, 50, 100, 250] as const;
/** A reader whose job has no owner that answers gets what is stored after this time, and the rest when there is one. */
const STORED_AFTER_MS = 1_000;
/** Most slices that wait for the answer which says where they belong. Later ones are asked for again. */
const MAX_HELD_SLICES = 256;

/** A copy of a feed that other coordinators write, for the readers of this one. It follows the job from owner to owner until it ends. */
export class FollowedFeed {
  readonly #mirror: FeedMirror;
  readonly #deps: FollowedFeedDeps;
  readonly #opened = Promise.withResolvers<void>();
  #isOpened = false;
  #isOver = false;
  /** Where the feed is, or was last, read from. */
  #ownerId: string | null = null;
  /** 0: none. */
  #stream = 0;
  #isLive = false;
  /** Slices that came before the answer to the request for them. Null while there is no request. */
  #held: FeedSlice[] | null = null;
  /** Who has the job, as somebody said. */
  #hint: string | null = null;
  #isInterrupted = false;
  /** Items of the copy that count as memory. */
  #counted = 0;
  #wake: (() => void) | null = null;

  /**
   * @param mirror of a feed that has nothing yet: then its first reader waits for {@link opened}; or of one that is being read.
   * @param ownerId who has the job, as far as that is known.
   */
  constructor(mirror: FeedMirror, ownerId: string | null, deps: FollowedFeedDeps) {
    this.#mirror = mirror;
    this.#deps = deps;
    this.#hint = ownerId;
    if (mirror.feed.readers > 0) this.#markOpened();
    // Nobody may wait for it.
    this.#opened.promise.catch(() => undefined);
    void this.#run();
  }

  get jobId(): string {
    return this.#mirror.feed.jobId;
  }

  get feed(): FeedMirror["feed"] {
    return this.#mirror.feed;
  }

  /** Resolves when the feed has what the job has said so far. @throws {ServiceError} `cluster_unavailable`, `storage_unavailable` */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** What it reads, and from whom; null while it looks for an owner. */
  get source(): { readonly ownerId: string; readonly stream: number; readonly nextIndex: number } | null {
    if (this.#stream === 0 || this.#ownerId === null) return null;
    return { ownerId: this.#ownerId, stream: this.#stream, nextIndex: this.#mirror.index };
  }

  /** A frame of a stream. Null: its sender cannot go on with it. */
  receive(stream: number, frame: WireSlice | null): void {
    if (stream !== this.#stream) return;
    if (frame === null) this.#interrupt(null);
    else {
      const slice = fromWire(frame, (ref) => this.#deps.large(this.jobId, ref));
      if (this.#held === null) this.#take(slice);
      else if (this.#held.length < MAX_HELD_SLICES) this.#held.push(slice);
    }
  }

  /** The owner lacks the stream, or a frame of it was lost. */
  reopen(stream: number): void {
    if (this.#isLive && stream === this.#stream) this.#interrupt(this.#ownerId);
  }

  /** The owner does not answer. */
  lose(stream: number): void {
    if (stream === this.#stream) this.#interrupt(null);
  }

  /** Another coordinator has the job. */
  noteOwner(ownerId: string): void {
    if (ownerId !== this.#ownerId || !this.#isLive) this.#interrupt(ownerId);
  }

  /** Follows no more. Readers keep what they have. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endStream();
    this.#markOpened();
    this.#wake?.();
    this.#deps.onOver(this);
  }

  async #run(): Promise<void> {
    const begunMs = this.#deps.clock.monotonicMs();
    let tries = 0;
    while (!this.#isOver) {
      const isLive = await this.#try();
      if (this.#isOver) return;
      if (isLive) {
        tries = 0;
        await this.#pause(null);
        continue;
      }
      if (!this.#isOpened && this.#deps.clock.monotonicMs() - begunMs >= STORED_AFTER_MS) {
        await this.#guarded(() => this.#takeStored());
        this.#markOpened();
      }
      await this.#pause(RETRIES_MS[Math.min(tries, RETRIES_MS.length - 1)] ?? 0);
      tries += 1;
    }
  }

  /** True once the owner sends the feed. */
  async #try(): Promise<boolean> {
    let isLive = false;
    await this.#guarded(async () => {
      const hint = this.#hint;
      this.#hint = null;
      this.#isInterrupted = false;
      const ownerId = hint ?? (await this.#deps.ownerOf(this.jobId));
      if (ownerId === undefined) await this.#takeStored();
      else if (!this.#isOver) isLive = await this.#openAt(ownerId);
    });
    return isLive;
  }

  /** Runs a step that is tried again if it fails. A reader who waits for the feed's first contents is told. */
  async #guarded(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#endStream();
      const isExpected = error instanceof BusError || error instanceof ServiceError;
      if (!isExpected) this.#deps.log.warn({ err: error, job_id: this.jobId }, "Following a job's feed failed");
      if (this.#isOpened || !(error instanceof ServiceError)) return;
      this.#opened.reject(error);
      this.stop();
    }
  }

  async #openAt(ownerId: string): Promise<boolean> {
    if (!this.#deps.canReach(ownerId)) {
      throw this.#isOpened ? new BusError("unreachable", "The bus is down") : new ClusterUnavailableError();
    }
    const { jobId } = this;
    this.#ownerId = ownerId;
    for (let more = true; more;) {
      this.#endStream();
      const stream = this.#deps.newStream(this);
      this.#stream = stream;
      this.#held = [];
      const { position: after } = this.#mirror;
      const opened = await this.#deps.open(ownerId, { stream, jobId, after });
      // It was interrupted meanwhile, or is over.
      if (this.#stream !== stream) return false;
      if (opened.is !== "open") {
        this.#endStream();
        if (opened.is === "lost") this.#cut("lost");
        if (opened.is === "too_large") await this.#takeStored();
        return false;
      }
      this.#mirror.begin(opened.place);
      if (opened.slice !== null) this.#take(fromWire(opened.slice, (ref) => this.#deps.large(jobId, ref)));
      more = opened.more && !this.#isOver;
    }
    const held = this.#held ?? [];
    this.#held = null;
    this.#isLive = !this.#isOver;
    for (const slice of held) if (this.#isLive) this.#take(slice);
    this.#markOpened();
    return !this.#isOver;
  }

  /** Goes on with what storage has: all, for a job that has ended. */
  async #takeStored(): Promise<void> {
    const stored = await this.#deps.readStored(this.jobId);
    if (this.#isOver) return;
    const { position } = this.#mirror;
    if (stored === undefined || stored.hasLost(position)) return this.#cut("lost");
    const tail = new FeedTail(stored, position);
    this.#mirror.begin(tail.place);
    const slice = tail.take(Infinity);
    if (slice !== null) this.#take(slice);
  }

  #take(slice: FeedSlice): void {
    const mirrored = this.#mirror.take(slice);
    const grown = memoryBytesOf(this.feed.items.slice(this.#counted));
    this.#counted = this.feed.items.length;
    const fits = this.#deps.onGrown(this, grown);
    if (mirrored === "gap") this.#interrupt(this.#ownerId);
    else if (mirrored === "lost") this.#cut("lost");
    else if (mirrored === "ended") this.stop();
    else if (!fits) this.#cut("memory");
  }

  #cut(because: CutReason): void {
    this.feed.cut(because);
    this.stop();
  }

  #interrupt(hint: string | null): void {
    this.#isLive = false;
    this.#endStream();
    this.#hint = hint;
    this.#isInterrupted = true;
    this.#wake?.();
  }

  /** Waits, at most for `ms` if that is not null, and not at all after an interruption. */
  async #pause(ms: number | null): Promise<void> {
    if (this.#isInterrupted || this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = ms === null ? null : this.#deps.clock.schedule(ms, resolve);
    await promise;
    timer?.cancel();
    this.#wake = null;
  }

  #endStream(): void {
    if (this.#stream !== 0) this.#deps.endStream(this.#stream);
    this.#stream = 0;
  }

  #markOpened(): void {
    this.#isOpened = true;
    this.#opened.resolve();
  }
}
