import { setImmediate as nextTick } from "node:timers/promises";
import type { Timer } from "../../shared/clock.ts";
import { ClusterUnavailableError, OverloadedError, ServiceError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { BusError } from "../bus/bus.ts";
import type { CutReason, Feed, WritableFeed } from "../jobs/feed.ts";
import { FeedReplica } from "../jobs/feed-replica.ts";
import { FEED_START, type FeedPosition } from "../jobs/feed-position.ts";
import { FeedTail, type FeedSlice } from "../jobs/feed-tail.ts";
import { sizeOf } from "../jobs/output-size.ts";
import { readStoredFeed } from "../jobs/stored-feed.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { JobStore } from "../store/jobs/jobs.ts";
import { fromWire, isTokens } from "./feed-wire.ts";
import { MESSAGES } from "./messages.ts";
import { StreamGap, type PeersEnv } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";

/** A replica of a peer's feed for the readers of this coordinator. */
interface FollowedJob {
  readonly replica: FeedReplica;
  readonly feed: WritableFeed;
  /** Resolves when the replica has all output so far. */
  readonly opened: PromiseWithResolvers<void>;
  isOpened: boolean;
  isOver: boolean;
  /** Coordinator from which the feed is read; null while it is not read. */
  ownerId: string | null;
  /** Owner of the job according to a message of a peer; null if storage must be queried. */
  hint: string | null;
  interrupt: AbortController;
  /** Number of ticks since the last reader left. */
  idleTicks: number;
  /** Number of items that count as memory of replicas, and their bytes. */
  countedItems: number;
  bytes: number;
}

const NOTHING = { fault: undefined, opened: undefined };
const TICK_MS = 1_000;
/** Number of ticks for which a feed without readers is still followed. */
const MAX_IDLE_TICKS = 5;
/** Delays before the owner is looked up again if it does not reply. The last delay is repeated. */
const RETRIES_MS = [10, 25, 50, 100, 250] as const;
/** Time after which a reader gets the stored output if no owner replies. The next owner sends the rest. */
const STORED_AFTER_MS = 1_000;
/** Maximum number of remembered jobs whose replica was cut for memory. */
const MAX_LARGE = 1_000;
/** Time during which a replica that was cut is not restarted from the first item. */
const CUT_MS = 5_000;
/** Maximum ticks for which a reader waits for memory. A browser's EventSource never retries after a refusal. */
const MAX_WAITED_TICKS = 10;
const NO_MEMORY = "Too much output of other coordinators' jobs is being read here; try again in a few seconds";

/**
 * Follows feeds of other coordinators' jobs that clients read here, with one replica for all readers of a job, from
 * owner to owner until the job ends.
 * @param maxBytes memory limit of all replicas. At the limit, a replica within its equal share may still grow, so that
 * one job's output never cuts off the readers of another job
 */
export function followFeeds(
  peers: Peers,
  cluster: Pick<ClusterStore, "ownersOf">,
  store: Pick<JobStore, "get" | "feed" | "large">,
  maxBytes: number,
  { clock, log }: PeersEnv,
) {
  const ownerOf = ownerLookup(cluster);
  /** Replicas that follow their jobs, by feed. */
  const active = new Map<Feed, FollowedJob>();
  const byJob = new Map<string, FollowedJob>();
  /** Replicas that count as memory, including those that are still read after they stopped following. */
  const counted = new Set<FollowedJob>();
  let bytes = 0;
  /** Last time when the replica of a job was cut for memory. */
  const cutMs = recentMap<number>(MAX_LARGE);
  /** Functions that wake the readers that wait for memory. */
  const waiting: (() => void)[] = [];
  let timer: Timer | null = null;
  let isClosed = false;

  const isFull = (): boolean => bytes > maxBytes;

  /** Waits a limited time for free memory. While the memory is full there are replicas, so the tick timer runs. */
  async function untilCapacity(jobId: string, after: FeedPosition): Promise<void> {
    for (let waited = 0; waited < MAX_WAITED_TICKS; waited += 1) {
      if (!isFull() || knownFor(jobId, after) !== undefined || isClosed) return;
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
  }

  /** Returns the current replica if it has everything after the reader's position. */
  function knownFor(jobId: string, { outputs, statuses } = FEED_START): FollowedJob | undefined {
    const known = byJob.get(jobId);
    const start = known?.feed.start ?? FEED_START;
    return start.outputs <= outputs && start.statuses <= statuses ? known : undefined;
  }

  function followedFor(jobId: string, after: FeedPosition | undefined): FollowedJob {
    const known = knownFor(jobId, after);
    if (known !== undefined) return known;
    const lastCutMs = cutMs.get(jobId);
    const wasJustCut = lastCutMs !== undefined && clock.monotonicMs() - lastCutMs < CUT_MS;
    if (isFull() || (after === undefined && wasJustCut)) throw new OverloadedError(NO_MEMORY);
    return follow(FeedReplica.of(jobId, lastCutMs === undefined ? FEED_START : after), null);
  }

  function follow(replica: FeedReplica, hint: string | null): FollowedJob {
    const { feed } = replica;
    const followed: FollowedJob = {
      replica,
      feed,
      opened: Promise.withResolvers(),
      isOpened: false,
      isOver: false,
      ownerId: null,
      hint,
      interrupt: new AbortController(),
      idleTicks: 0,
      countedItems: 0,
      bytes: 0,
    };
    if (feed.readers > 0) markOpened(followed);
    // Avoid an unhandled rejection if no reader waits.
    followed.opened.promise.catch(() => undefined);
    active.set(feed, followed);
    byJob.set(feed.jobId, followed);
    counted.add(followed);
    followForNextReader(feed);
    timer ??= clock.schedule(TICK_MS, tick);
    void run(followed);
    return followed;
  }

  /** Follows a feed again for its next reader if it was no longer followed because it had no reader. */
  function followForNextReader(feed: WritableFeed): void {
    feed.onReader = () => {
      const isOpen = feed.ending === null && !feed.isCut && !isClosed;
      if (isOpen && !active.has(feed)) follow(new FeedReplica(feed), null);
    };
  }

  async function run(followed: FollowedJob): Promise<void> {
    const begunMs = clock.monotonicMs();
    let retries = 0;
    while (!followed.isOver) {
      followed.interrupt = new AbortController();
      const { signal } = followed.interrupt;
      const { hint } = followed;
      followed.hint = null;
      await runGuarded(followed, () => followOnce(followed, hint, signal));
      if (followed.isOver) return;
      const wasLive = followed.ownerId !== null;
      followed.ownerId = null;
      if (wasLive) retries = 0;
      if (!followed.isOpened && clock.monotonicMs() - begunMs >= STORED_AFTER_MS) {
        await runGuarded(followed, () => takeStored(followed));
        markOpened(followed);
      }
      if (wasLive || followed.hint !== null) continue;
      await clock.sleep(RETRIES_MS[Math.min(retries, RETRIES_MS.length - 1)] ?? 0, signal).catch(() => undefined);
      retries += 1;
    }
  }

  /** Follows the job at its owner until the stream fails or the job moves. */
  async function followOnce(followed: FollowedJob, hint: string | null, signal: AbortSignal): Promise<void> {
    const { jobId } = followed.feed;
    const ownerId = hint ?? (await ownerOf(jobId));
    if (ownerId === undefined) return takeStored(followed);
    if (signal.aborted) return;
    if (ownerId !== peers.self.id && peers.downReason !== null) {
      throw followed.isOpened ? new BusError("unreachable", "The bus is down") : new ClusterUnavailableError();
    }
    const { outputs, statuses, attempt } = followed.replica.position;
    const question = { jobId, after: { outputs, statuses, attempt } };
    try {
      for await (const frame of peers.stream(ownerId, MESSAGES.feed, question, signal)) {
        const { fault, opened } = isTokens(frame) ? NOTHING : frame;
        if (fault === "lost") return cut(followed, "lost");
        if (fault === "too_large") return await takeStored(followed);
        if (opened !== undefined) followed.replica.begin(opened);
        const slice = fromWire(frame, (ref) => store.large(jobId, ref));
        take(followed, slice);
        if (opened !== undefined) followed.ownerId = ownerId;
        if (opened?.more === true) {
          followed.hint ??= ownerId;
          return;
        }
        if (opened !== undefined) markOpened(followed);
        if (followed.isOver) return;
      }
    } catch (error) {
      // The owner still has the job.
      if (error instanceof StreamGap) followed.hint ??= ownerId;
      else followed.ownerId = null;
      throw error;
    }
  }

  /** Runs a step that the caller retries. Readers that wait for the first contents get its error. */
  async function runGuarded(followed: FollowedJob, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const isExpected = error instanceof BusError || error instanceof ServiceError || error instanceof StreamGap;
      if (!isExpected) log.warn({ err: error, job_id: followed.feed.jobId }, "Could not follow the feed of a job");
      if (followed.isOpened || !(error instanceof ServiceError)) return;
      followed.opened.reject(error);
      stop(followed);
    }
  }

  /** Continues a replica from storage, which has the complete feed of an ended job. */
  async function takeStored(followed: FollowedJob): Promise<void> {
    const stored = await readStoredFeed(store, followed.feed.jobId);
    if (followed.isOver) return;
    const { position } = followed.replica;
    if (stored === undefined || stored.hasLost(position)) return cut(followed, "lost");
    const tail = new FeedTail(stored, position);
    followed.replica.begin(tail.start);
    const slice = tail.take(Infinity);
    if (slice !== null) take(followed, slice);
  }

  function take(followed: FollowedJob, slice: FeedSlice): void {
    const { feed } = followed;
    const changed = followed.replica.take(slice);
    const grown = sizeOf(feed.items.slice(followed.countedItems)).memoryBytes;
    followed.countedItems = feed.items.length;
    followed.bytes += grown;
    bytes += grown;
    if (changed === "gap") throw new StreamGap("The feed lacks items");
    if (changed === "lost") cut(followed, "lost");
    else if (changed === "ended") stop(followed);
    else if (isFull() && followed.bytes > maxBytes / counted.size) cut(followed, "memory");
  }

  function cut(followed: FollowedJob, reason: CutReason): void {
    followed.feed.cut(reason);
    stop(followed);
  }

  /** Stops following a feed. Readers keep the items of the replica. */
  function stop(followed: FollowedJob): void {
    if (followed.isOver) return;
    followed.isOver = true;
    const { feed } = followed;
    active.delete(feed);
    if (byJob.get(feed.jobId) === followed) byJob.delete(feed.jobId);
    if (feed.cutReason === "memory") cutMs.set(feed.jobId, clock.monotonicMs());
    markOpened(followed);
    followed.interrupt.abort();
  }

  function markOpened(followed: FollowedJob): void {
    followed.isOpened = true;
    followed.opened.resolve();
  }

  function tick(): void {
    for (const followed of counted) {
      const isRead = followed.feed.readers > 0;
      followed.idleTicks = isRead ? 0 : followed.idleTicks + 1;
      if (followed.idleTicks > MAX_IDLE_TICKS) stop(followed);
      // Waiting readers of an ended replica subscribe shortly after its end.
      if (!followed.isOver || isRead) continue;
      counted.delete(followed);
      bytes -= followed.bytes;
    }
    for (const resolve of waiting.splice(0)) resolve();
    timer = counted.size > 0 && !isClosed ? clock.schedule(TICK_MS, tick) : null;
  }

  /**
   * Opens the feed of a job that another coordinator owns. `after` is the position of a returning reader; undefined if
   * the reader needs the whole feed at once. After a replica was cut for memory, the next one starts at `after`, so
   * that each replica makes progress.
   * @throws {ServiceError} `cluster_unavailable`, `storage_unavailable`, `overloaded`, `shutting_down`
   */
  async function open(jobId: string, after?: FeedPosition): Promise<Feed> {
    if (after !== undefined) await untilCapacity(jobId, after);
    if (isClosed) throw new ServiceError("shutting_down", "The coordinator is shutting down");
    const { feed, opened } = followedFor(jobId, after);
    await opened.promise;
    const isPartial = feed.start.outputs + feed.start.statuses > 0;
    // Only a complete feed can decide whether the position is lost.
    if (feed.cutReason === "lost" && isPartial) return open(jobId, FEED_START);
    if (feed.cutReason === "memory" && after === undefined) throw new OverloadedError(NO_MEMORY);
    return feed;
  }

  peers.onBroadcast(MESSAGES.moved, ({ jobIds }, ownerId) => {
    for (const jobId of jobIds) {
      const followed = byJob.get(jobId);
      if (followed === undefined || followed.ownerId === ownerId) continue;
      followed.hint = ownerId;
      followed.interrupt.abort();
    }
  });

  return {
    open,
    /** Continues the feed of a job that moved away, for its readers here. */
    resume(feed: WritableFeed, ownerId: string | null): void {
      followForNextReader(feed);
      if (feed.readers > 0 && !isClosed) follow(new FeedReplica(feed), ownerId);
    },
    close(): void {
      isClosed = true;
      for (const followed of active.values()) stop(followed);
      timer?.cancel();
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

/** Returns a function that queries the owner of a job; undefined if it has ended. Calls in one tick share a query. */
function ownerLookup(cluster: Pick<ClusterStore, "ownersOf">): (jobId: string) => Promise<string | undefined> {
  const asked = new Set<string>();
  let owners: Promise<ReadonlyMap<string, string>> | null = null;

  async function ask(): Promise<ReadonlyMap<string, string>> {
    await nextTick();
    const jobIds = [...asked];
    asked.clear();
    owners = null;
    return cluster.ownersOf(jobIds);
  }

  return async (jobId) => {
    asked.add(jobId);
    owners ??= ask();
    return (await owners).get(jobId);
  };
}
