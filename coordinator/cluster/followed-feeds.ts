import type { Clock, Timer } from "../../shared/clock.ts";
import { OverloadedError, ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BusError, type Bus, type Unsubscribe } from "../bus/bus.ts";
import type { Feed, WritableFeed } from "../jobs/feed.ts";
import { FEED_START, type FeedPosition } from "../jobs/feed-position.ts";
import { FeedMirror } from "../jobs/feed-mirror.ts";
import { readStoredFeed } from "../jobs/stored-feed.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { JobStore } from "../store/jobs.ts";
import type { FeedFrames, OpenedFeed, OpenFeed, RenewedFeeds, RenewFeeds } from "./feed-messages.ts";
import { FollowedFeed, type FollowedFeedDeps } from "./followed-feed.ts";
import { FollowedMemory } from "./followed-memory.ts";
import { MOVED, type DroppedJob, type MovedMessage } from "./job-mover.ts";
import { OwnerLookup } from "./owner-lookup.ts";

export interface FollowedFeedsDeps {
  readonly selfId: string;
  readonly bus: Bus;
  readonly cluster: Pick<ClusterStore, "ownersOf">;
  readonly store: Pick<JobStore, "get" | "feed" | "large">;
  readonly clock: Pick<Clock, "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "warn">;
  /** What the copies may take in memory. */
  readonly maxBytes: number;
}

/** How often owners are told what is wanted, which also finds those that died. */
const RENEW_MS = 1_000;
/** A feed without a reader is followed for so many renewals more. */
const MAX_IDLE_RENEWALS = 5;
const REQUEST_TIMEOUT_MS = 1_000;
/** An owner that nobody answers for is not asked again before. */
const UNREACHABLE_MS = 250;
/** Jobs remembered whose copy took more memory than there was. */
const MAX_LARGE = 1_000;
/** A copy that was cut is not begun again from the first item before. */
const CUT_MS = 5_000;
/** Renewals for which a stream waits for memory: a browser's EventSource takes a refusal for the end. */
const MAX_WAITED_RENEWALS = 10;
const NO_MEMORY = "Too much output of other coordinators' jobs is being read here; try again in a few seconds";

/** The feeds of other coordinators' jobs that clients read here: one copy of each, for all its readers. */
export class FollowedFeeds {
  readonly #deps: FollowedFeedsDeps;
  readonly #feedDeps: FollowedFeedDeps;
  readonly #stops: readonly Unsubscribe[];
  /** With the renewals since each had a reader. */
  readonly #active = new Map<FollowedFeed, number>();
  /** Theirs. */
  readonly #followedFeeds = new Set<WritableFeed>();
  /** Those that new readers get. */
  readonly #byJob = new Map<string, FollowedFeed>();
  readonly #byStream = new Map<number, FollowedFeed>();
  readonly #memory: FollowedMemory<FollowedFeed>;
  /** Copies that are not followed any more, and that somebody still reads. */
  readonly #held = new Set<FollowedFeed>();
  /** When the copy of a job was cut for memory last. */
  readonly #cutMs = recentMap<number>(MAX_LARGE);
  /** Called at the next renewal. */
  #waiting: (() => void)[] = [];
  #lastStream = 0;
  /** Owners that were told what is wanted. */
  readonly #told = new Set<string>();
  readonly #renewing = new Set<string>();
  readonly #unreachableUntilMs = new Map<string, number>();
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(deps: FollowedFeedsDeps) {
    this.#deps = deps;
    const { bus, selfId, store, clock, log } = deps;
    const owners = new OwnerLookup(deps.cluster);
    this.#memory = new FollowedMemory(deps.maxBytes);
    this.#feedDeps = {
      clock,
      log,
      ownerOf: (jobId) => owners.of(jobId),
      canReach: (ownerId) => ownerId === selfId || bus.downBecause === null,
      open: (ownerId, request) => this.#open(ownerId, request),
      readStored: (jobId) => readStoredFeed(store, jobId),
      large: (jobId, ref) => store.large(jobId, ref),
      newStream: (feed) => this.#newStream(feed),
      endStream: (stream) => void this.#byStream.delete(stream),
      onGrown: (feed, bytes) => this.#memory.grow(feed, bytes),
      onOver: (feed) => this.#remove(feed),
    };
    this.#stops = [
      bus.subscribe(`feed.${selfId}`, (message) => this.#receive(message as FeedFrames)),
      bus.subscribe(MOVED, (message) => this.#noteMoved(message as MovedMessage)),
    ];
  }

  /**
   * The feed of a job that another coordinator has. It is cut if it takes more memory than there is for it. `after`: where the reader is,
   * who comes back for the rest; then, if the job's copy was cut before, a new one begins there, so that each has more than the last.
   * Undefined: the reader needs all at once.
   * @throws {ServiceError} `cluster_unavailable`, `storage_unavailable`, `overloaded`, `shutting_down`
   */
  async open(jobId: string, after?: FeedPosition): Promise<Feed> {
    if (after !== undefined) await this.#untilRoom(jobId, after);
    if (this.#isClosed) throw new ServiceError("shutting_down", "The coordinator stops");
    const cutMs = this.#cutMs.get(jobId);
    const { feed, opened } = this.#copyFor(jobId, after, cutMs);
    await opened;
    const isPart = feed.start.outputs + feed.start.statuses > 0;
    // Whether the position is lost is said by a feed that has all.
    if (feed.cutBecause === "lost" && isPart) return this.open(jobId, FEED_START);
    if (feed.cutBecause === "memory" && after === undefined) throw new OverloadedError(NO_MEMORY);
    return feed;
  }

  /** Waits for memory, not for ever. While there is none there are copies, so there are renewals. */
  async #untilRoom(jobId: string, after: FeedPosition): Promise<void> {
    for (let waited = 0; waited < MAX_WAITED_RENEWALS; waited += 1) {
      if (!this.#memory.isFull || this.#knownFor(jobId, after) !== undefined || this.#isClosed) return;
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  #endWaits(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #copyFor(jobId: string, after: FeedPosition | undefined, cutMs: number | undefined): FollowedFeed {
    const known = this.#knownFor(jobId, after);
    if (known !== undefined) return known;
    const wasJustCut = cutMs !== undefined && this.#deps.clock.monotonicMs() - cutMs < CUT_MS;
    if (this.#memory.isFull || (after === undefined && wasJustCut)) throw new OverloadedError(NO_MEMORY);
    return this.#follow(FeedMirror.of(jobId, cutMs === undefined ? FEED_START : after), null);
  }

  /** The present copy, if it has all that comes after the reader. */
  #knownFor(jobId: string, { outputs, statuses } = FEED_START): FollowedFeed | undefined {
    const known = this.#byJob.get(jobId);
    const start = known?.feed.start ?? FEED_START;
    return start.outputs <= outputs && start.statuses <= statuses ? known : undefined;
  }

  /** Goes on with the feed of a job that was this coordinator's, for those who read it. */
  goOn({ feed, ownerId }: Pick<DroppedJob, "feed" | "ownerId">): void {
    this.#onReader(feed);
    // What nobody reads is followed when somebody does.
    if (feed.readers > 0 && !this.#isClosed) this.#follow(new FeedMirror(feed), ownerId);
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    for (const followed of this.#active.keys()) followed.stop();
    this.#timer?.cancel();
    this.#endWaits();
  }

  #follow(mirror: FeedMirror, ownerId: string | null): FollowedFeed {
    const followed = new FollowedFeed(mirror, ownerId, this.#feedDeps);
    this.#active.set(followed, 0);
    this.#followedFeeds.add(mirror.feed);
    this.#byJob.set(mirror.feed.jobId, followed);
    this.#onReader(mirror.feed);
    this.#timer ??= this.#deps.clock.schedule(RENEW_MS, () => this.#tick());
    return followed;
  }

  /** A feed that was left as nobody read it is followed again for its next reader. */
  #onReader(feed: WritableFeed): void {
    feed.onReader = () => {
      const isOpen = feed.ending === null && !feed.isCut && !this.#isClosed;
      if (isOpen && !this.#followedFeeds.has(feed)) this.#follow(new FeedMirror(feed), null);
    };
  }

  #remove(followed: FollowedFeed): void {
    this.#active.delete(followed);
    if (followed.feed.cutBecause === "memory") this.#cutMs.set(followed.jobId, this.#deps.clock.monotonicMs());
    // A reader who waited for it comes in a moment.
    this.#held.add(followed);
    this.#followedFeeds.delete(followed.feed);
    if (this.#byJob.get(followed.jobId) === followed) this.#byJob.delete(followed.jobId);
  }

  #newStream(feed: FollowedFeed): number {
    this.#lastStream += 1;
    this.#byStream.set(this.#lastStream, feed);
    return this.#lastStream;
  }

  async #open(ownerId: string, request: Omit<OpenFeed, "follower">): Promise<OpenedFeed> {
    const { bus, clock, selfId } = this.#deps;
    if ((this.#unreachableUntilMs.get(ownerId) ?? 0) > clock.monotonicMs()) {
      throw new BusError("unreachable", `Coordinator ${ownerId} did not answer`);
    }
    const message: OpenFeed = { ...request, follower: selfId };
    this.#told.add(ownerId);
    try {
      const opened = (await bus.request(`${ownerId}.feed`, message, REQUEST_TIMEOUT_MS)) as OpenedFeed;
      this.#unreachableUntilMs.delete(ownerId);
      return opened;
    } catch (error) {
      const isGone = error instanceof BusError && error.kind === "unreachable";
      if (isGone) this.#unreachableUntilMs.set(ownerId, clock.monotonicMs() + UNREACHABLE_MS);
      throw error;
    }
  }

  #receive({ frames }: FeedFrames): void {
    for (const [stream, slice] of frames) this.#byStream.get(stream)?.receive(stream, slice);
  }

  #noteMoved({ jobIds, ownerId }: MovedMessage): void {
    this.#unreachableUntilMs.delete(ownerId);
    for (const jobId of jobIds) this.#byJob.get(jobId)?.noteOwner(ownerId);
  }

  #tick(): void {
    const wanted = new Map<string, { stream: number; nextIndex: number; followed: FollowedFeed }[]>();
    for (const ownerId of this.#told) wanted.set(ownerId, []);
    for (const [followed, idleRenewals] of this.#active) {
      const idle = followed.feed.readers > 0 ? 0 : idleRenewals + 1;
      this.#active.set(followed, idle);
      if (idle > MAX_IDLE_RENEWALS) followed.stop();
      const { source } = followed;
      if (source !== null) wanted.get(source.ownerId)?.push({ ...source, followed });
    }
    for (const followed of this.#held) {
      if (followed.feed.readers > 0) continue;
      this.#held.delete(followed);
      this.#memory.release(followed);
    }
    const nowMs = this.#deps.clock.monotonicMs();
    // Each start of a coordinator has another id, so those that died would never leave.
    for (const [ownerId, untilMs] of this.#unreachableUntilMs)
      if (untilMs <= nowMs) this.#unreachableUntilMs.delete(ownerId);
    this.#endWaits();
    for (const [ownerId, streams] of wanted) void this.#renew(ownerId, streams);
    const isNeeded = this.#active.size + this.#held.size > 0 || this.#told.size > 0;
    this.#timer = isNeeded && !this.#isClosed ? this.#deps.clock.schedule(RENEW_MS, () => this.#tick()) : null;
  }

  async #renew(
    ownerId: string,
    wanted: readonly { stream: number; nextIndex: number; followed: FollowedFeed }[],
  ): Promise<void> {
    if (this.#renewing.has(ownerId)) return;
    // Once it was told that nothing is wanted, nothing needs to be said.
    if (wanted.length === 0) this.#told.delete(ownerId);
    this.#renewing.add(ownerId);
    const { bus, selfId } = this.#deps;
    const streams = wanted.map(({ stream, nextIndex }) => [stream, nextIndex] as const);
    const message: RenewFeeds = { follower: selfId, upTo: this.#lastStream, streams };
    try {
      const { broken } = (await bus.request(`${ownerId}.feeds`, message, REQUEST_TIMEOUT_MS)) as RenewedFeeds;
      for (const stream of broken) this.#byStream.get(stream)?.reopen(stream);
    } catch {
      // It died, stands still or is cut off: each of its jobs may have another owner.
      for (const { stream, followed } of wanted) followed.lose(stream);
    } finally {
      this.#renewing.delete(ownerId);
    }
  }
}
