import { setImmediate as nextTick } from "node:timers/promises";
import type { Clock, Timer } from "../../shared/clock.ts";
import { ClusterUnavailableError, OverloadedError, ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
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
import { M } from "./messages.ts";
import { StreamGap } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";

/** Replica of a peer's feed for the readers of this coordinator. */
interface Copy {
  readonly replica: FeedReplica;
  readonly feed: WritableFeed;
  /** Resolves when the feed has all output so far. */
  readonly opened: PromiseWithResolvers<void>;
  isOpened: boolean;
  isOver: boolean;
  /** Coordinator from which the feed is read; null while it is not read. */
  ownerId: string | null;
  /** Owner of the job according to a peer. */
  hint: string | null;
  /** Aborts what the replica waits for. */
  interrupt: AbortController;
  /** Ticks since the last reader left. */
  idleTicks: number;
  /** Items counted as memory, and their bytes. */
  countedItems: number;
  bytes: number;
}

const NOTHING = { fault: undefined, opened: undefined };
/** Interval at which unread replicas and memory are checked. */
const TICK_MS = 1_000;
/** Ticks for which a feed without readers is still followed. */
const MAX_IDLE_TICKS = 5;
/** Delays before the owner is looked up again if it does not reply. The last one repeats. */
const RETRIES_MS = [10, 25, 50, 100, 250] as const;
/** Time after which a reader gets the stored output if no owner replies. The rest follows once there is an owner. */
const STORED_AFTER_MS = 1_000;
/** Number of remembered jobs whose replica exceeded the memory. */
const MAX_LARGE = 1_000;
/** Time during which a replica that was cut is not restarted from the first item. */
const CUT_MS = 5_000;
/** Ticks for which a stream waits for memory. A browser's EventSource treats a refusal as the end of the stream. */
const MAX_WAITED_TICKS = 10;
const NO_MEMORY = "Too much output of other coordinators' jobs is being read here; try again in a few seconds";

/**
 * Follows feeds of other coordinators' jobs that clients read here, with one replica of each for all its readers. A replica follows the job
 * from owner to owner until it ends.
 * @param maxBytes memory limit of all replicas. At the limit, a replica within its equal share may still grow, so that one job's output
 * never cuts off the readers of another's
 */
export function followFeeds(
  peers: Peers,
  cluster: Pick<ClusterStore, "ownersOf">,
  store: Pick<JobStore, "get" | "feed" | "large">,
  maxBytes: number,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
) {
  const ownerOf = ownerLookup(cluster);
  /** Replicas that follow their jobs, by feed. */
  const active = new Map<Feed, Copy>();
  /** Replicas for new readers, by job. */
  const byJob = new Map<string, Copy>();
  /** Replicas that count as memory, including those that are still read after they stopped following. */
  const counted = new Set<Copy>();
  let bytes = 0;
  /** Last time when the replica of a job was cut for memory. */
  const cutMs = recentMap<number>(MAX_LARGE);
  /** Resolvers called at the next tick. */
  let waiting: (() => void)[] = [];
  let timer: Timer | null = null;
  let isClosed = false;

  const isFull = (): boolean => bytes > maxBytes;

  /** Waits a limited time for memory. While memory is full there are replicas, so the tick timer runs. */
  async function untilCapacity(jobId: string, after: FeedPosition): Promise<void> {
    for (let waited = 0; waited < MAX_WAITED_TICKS; waited += 1) {
      if (!isFull() || knownFor(jobId, after) !== undefined || isClosed) return;
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
  }

  function endWaits(): void {
    const ended = waiting;
    waiting = [];
    for (const resolve of ended) resolve();
  }

  /** Returns the current replica if it has everything after the reader's position. */
  function knownFor(jobId: string, { outputs, statuses } = FEED_START): Copy | undefined {
    const known = byJob.get(jobId);
    const start = known?.feed.start ?? FEED_START;
    return start.outputs <= outputs && start.statuses <= statuses ? known : undefined;
  }

  function copyFor(jobId: string, after: FeedPosition | undefined): Copy {
    const known = knownFor(jobId, after);
    if (known !== undefined) return known;
    const lastCutMs = cutMs.get(jobId);
    const wasJustCut = lastCutMs !== undefined && clock.monotonicMs() - lastCutMs < CUT_MS;
    if (isFull() || (after === undefined && wasJustCut)) throw new OverloadedError(NO_MEMORY);
    return follow(FeedReplica.of(jobId, lastCutMs === undefined ? FEED_START : after), null);
  }

  /** @param hint owner of the job, if known */
  function follow(replica: FeedReplica, hint: string | null): Copy {
    const { feed } = replica;
    const copy: Copy = {
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
    if (feed.readers > 0) markOpened(copy);
    // Avoid an unhandled rejection if no reader waits.
    copy.opened.promise.catch(() => undefined);
    active.set(feed, copy);
    byJob.set(feed.jobId, copy);
    counted.add(copy);
    followForNextReader(feed);
    timer ??= clock.schedule(TICK_MS, tick);
    void run(copy);
    return copy;
  }

  /** Follows a feed again for its next reader if it was left because it had none. */
  function followForNextReader(feed: WritableFeed): void {
    feed.onReader = () => {
      const isOpen = feed.ending === null && !feed.isCut && !isClosed;
      if (isOpen && !active.has(feed)) follow(new FeedReplica(feed), null);
    };
  }

  async function run(copy: Copy): Promise<void> {
    const begunMs = clock.monotonicMs();
    let retries = 0;
    while (!copy.isOver) {
      copy.interrupt = new AbortController();
      const { signal } = copy.interrupt;
      const { hint } = copy;
      copy.hint = null;
      await guarded(copy, () => followOnce(copy, hint, signal));
      if (copy.isOver) return;
      const wasLive = copy.ownerId !== null;
      copy.ownerId = null;
      if (wasLive) retries = 0;
      if (!copy.isOpened && clock.monotonicMs() - begunMs >= STORED_AFTER_MS) {
        await guarded(copy, () => takeStored(copy));
        markOpened(copy);
      }
      if (wasLive || copy.hint !== null) continue;
      await clock.sleep(RETRIES_MS[Math.min(retries, RETRIES_MS.length - 1)] ?? 0, signal).catch(() => undefined);
      retries += 1;
    }
  }

  /** Follows the job at its owner until that fails or the job moves. */
  async function followOnce(copy: Copy, hint: string | null, signal: AbortSignal): Promise<void> {
    const { jobId } = copy.feed;
    const ownerId = hint ?? (await ownerOf(jobId));
    if (ownerId === undefined) return takeStored(copy);
    if (signal.aborted) return;
    if (ownerId !== peers.self.id && peers.downBecause !== null) {
      throw copy.isOpened ? new BusError("unreachable", "The bus is down") : new ClusterUnavailableError();
    }
    const { outputs, statuses, attempt } = copy.replica.position;
    try {
      for await (const frame of peers.stream(
        ownerId,
        M.feed,
        { jobId, after: { outputs, statuses, attempt } },
        signal,
      )) {
        const { fault, opened } = isTokens(frame) ? NOTHING : frame;
        if (fault === "lost") return cut(copy, "lost");
        if (fault === "too_large") return await takeStored(copy);
        if (opened !== undefined) copy.replica.begin(opened);
        take(
          copy,
          fromWire(frame, (ref) => store.large(jobId, ref)),
        );
        if (opened !== undefined) copy.ownerId = ownerId;
        if (opened?.more === true) {
          copy.hint ??= ownerId;
          return;
        }
        if (opened !== undefined) markOpened(copy);
        if (copy.isOver) return;
      }
    } catch (error) {
      // The owner still has the job.
      if (error instanceof StreamGap) copy.hint ??= ownerId;
      else copy.ownerId = null;
      throw error;
    }
  }

  /** Runs a step that is retried if it fails. Readers that wait for the feed's first contents get the error. */
  async function guarded(copy: Copy, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const isExpected = error instanceof BusError || error instanceof ServiceError || error instanceof StreamGap;
      if (!isExpected) log.warn({ err: error, job_id: copy.feed.jobId }, "Could not follow the feed of a job");
      if (copy.isOpened || !(error instanceof ServiceError)) return;
      copy.opened.reject(error);
      stop(copy);
    }
  }

  /** Continues from storage, which has the complete feed of an ended job. */
  async function takeStored(copy: Copy): Promise<void> {
    const stored = await readStoredFeed(store, copy.feed.jobId);
    if (copy.isOver) return;
    const { position } = copy.replica;
    if (stored === undefined || stored.hasLost(position)) return cut(copy, "lost");
    const tail = new FeedTail(stored, position);
    copy.replica.begin(tail.start);
    const slice = tail.take(Infinity);
    if (slice !== null) take(copy, slice);
  }

  function take(copy: Copy, slice: FeedSlice): void {
    const { feed } = copy;
    const changed = copy.replica.take(slice);
    const grown = sizeOf(feed.items.slice(copy.countedItems)).memoryBytes;
    copy.countedItems = feed.items.length;
    copy.bytes += grown;
    bytes += grown;
    if (changed === "gap") throw new StreamGap("Items are missing");
    if (changed === "lost") cut(copy, "lost");
    else if (changed === "ended") stop(copy);
    else if (isFull() && copy.bytes > maxBytes / counted.size) cut(copy, "memory");
  }

  function cut(copy: Copy, because: CutReason): void {
    copy.feed.cut(because);
    stop(copy);
  }

  /** Stops following. Readers keep what they have. */
  function stop(copy: Copy): void {
    if (copy.isOver) return;
    copy.isOver = true;
    const { feed } = copy;
    active.delete(feed);
    if (byJob.get(feed.jobId) === copy) byJob.delete(feed.jobId);
    if (feed.cutBecause === "memory") cutMs.set(feed.jobId, clock.monotonicMs());
    markOpened(copy);
    copy.interrupt.abort();
  }

  function markOpened(copy: Copy): void {
    copy.isOpened = true;
    copy.opened.resolve();
  }

  function tick(): void {
    for (const copy of counted) {
      const isRead = copy.feed.readers > 0;
      copy.idleTicks = isRead ? 0 : copy.idleTicks + 1;
      if (copy.idleTicks > MAX_IDLE_TICKS) stop(copy);
      // Waiting readers of an ended replica subscribe shortly after its end.
      if (!copy.isOver || isRead) continue;
      counted.delete(copy);
      bytes -= copy.bytes;
    }
    endWaits();
    timer = counted.size > 0 && !isClosed ? clock.schedule(TICK_MS, tick) : null;
  }

  /**
   * Opens the feed of a job that another coordinator owns. The feed is cut if it exceeds the memory. `after` is the position of a returning
   * reader. If the job's replica was cut before, a new one begins at that position, so that each gets further than the last. Undefined: the
   * reader needs everything at once.
   * @throws {ServiceError} `cluster_unavailable`, `storage_unavailable`, `overloaded`, `shutting_down`
   */
  async function open(jobId: string, after?: FeedPosition): Promise<Feed> {
    if (after !== undefined) await untilCapacity(jobId, after);
    if (isClosed) throw new ServiceError("shutting_down", "The coordinator is shutting down");
    const { feed, opened } = copyFor(jobId, after);
    await opened.promise;
    const isPart = feed.start.outputs + feed.start.statuses > 0;
    // Only a complete feed can decide whether the position is lost.
    if (feed.cutBecause === "lost" && isPart) return open(jobId, FEED_START);
    if (feed.cutBecause === "memory" && after === undefined) throw new OverloadedError(NO_MEMORY);
    return feed;
  }

  peers.hear(M.moved, ({ jobIds }, ownerId) => {
    for (const jobId of jobIds) {
      const copy = byJob.get(jobId);
      if (copy === undefined || copy.ownerId === ownerId) continue;
      copy.hint = ownerId;
      copy.interrupt.abort();
    }
  });

  return {
    open,
    /** Continues the feed of a job that moved away, for its readers here. */
    goOn(feed: WritableFeed, ownerId: string | null): void {
      followForNextReader(feed);
      // A feed without readers is followed when it gets one.
      if (feed.readers > 0 && !isClosed) follow(new FeedReplica(feed), ownerId);
    },
    close(): void {
      isClosed = true;
      for (const copy of active.values()) stop(copy);
      timer?.cancel();
      endWaits();
    },
  };
}

/**
 * Queries storage for the owner of a job; undefined if the job has ended. Calls at about the same time share a query, such as those of a
 * dead coordinator's readers.
 */
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
