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
import { memoryBytesOf } from "../jobs/output-size.ts";
import { readStoredFeed } from "../jobs/stored-feed.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { JobStore } from "../store/jobs/jobs.ts";
import { fromWire, isTokens } from "./feed-wire.ts";
import { M } from "./messages.ts";
import { StreamGap } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";

/** A copy of a feed that a peer writes, for the readers of this coordinator. */
interface Copy {
  readonly replica: FeedReplica;
  readonly feed: WritableFeed;
  /** Resolves when the feed has what the job has said so far. */
  readonly opened: PromiseWithResolvers<void>;
  isOpened: boolean;
  isOver: boolean;
  /** Where the feed is read from; null while it is not. */
  ownerId: string | null;
  /** The coordinator that has the job, as a peer said. */
  hint: string | null;
  /** Ends what the copy waits for. */
  interrupt: AbortController;
  /** Ticks since it had a reader. */
  idleTicks: number;
  /** Items that count as memory, and their bytes. */
  countedItems: number;
  bytes: number;
}

const NOTHING = { fault: undefined, opened: undefined };
/** Copies without readers, and memory, are looked at so often. */
const TICK_MS = 1_000;
/** A feed without a reader is followed for so many ticks more. */
const MAX_IDLE_TICKS = 5;
/** An owner that does not answer is looked up again after these, the last one again and again. */
const RETRIES_MS = [10, 25, 50, 100, 250] as const;
/** A reader whose job has no owner that answers gets what is stored after this time, and the rest when there is one. */
const STORED_AFTER_MS = 1_000;
/** Jobs remembered whose copy took more memory than there was. */
const MAX_LARGE = 1_000;
/** A copy that was cut is not begun again from the first item before. */
const CUT_MS = 5_000;
/** Ticks for which a stream waits for memory: a browser's EventSource takes a refusal for the end. */
const MAX_WAITED_TICKS = 10;
const NO_MEMORY = "Too much output of other coordinators' jobs is being read here; try again in a few seconds";

/**
 * The feeds of other coordinators' jobs that clients read here: one copy of each, for all its readers. It follows the job from owner to
 * owner until it ends.
 * @param maxBytes what the copies may take in memory. When they take all that they may, a copy within its equal share may still grow, so
 *   that one job's output never cuts off the readers of another's.
 */
export function followFeeds(
  peers: Peers,
  cluster: Pick<ClusterStore, "ownersOf">,
  store: Pick<JobStore, "get" | "feed" | "large">,
  maxBytes: number,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
) {
  const ownerOf = ownerLookup(cluster);
  /** Those that follow their jobs, by feed. */
  const active = new Map<Feed, Copy>();
  /** Those that new readers get. */
  const byJob = new Map<string, Copy>();
  /** All that count as memory: also those that follow no more and are still read. */
  const counted = new Set<Copy>();
  let bytes = 0;
  /** When the copy of a job was cut for memory last. */
  const cutMs = recentMap<number>(MAX_LARGE);
  /** Called at the next tick. */
  let waiting: (() => void)[] = [];
  let timer: Timer | null = null;
  let isClosed = false;

  const isFull = (): boolean => bytes > maxBytes;

  /** Waits for memory, not for ever. While there is none there are copies, so there are ticks. */
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

  /** The present copy, if it has all that comes after the reader. */
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

  /** @param hint the coordinator that has the job, as far as that is known. */
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
    // There may be no reader that waits for it.
    copy.opened.promise.catch(() => undefined);
    active.set(feed, copy);
    byJob.set(feed.jobId, copy);
    counted.add(copy);
    followForNextReader(feed);
    timer ??= clock.schedule(TICK_MS, tick);
    void run(copy);
    return copy;
  }

  /** A feed that was left because it had no reader is followed again for its next one. */
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

  /** Follows the job at its owner until that cannot go on. */
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
      // The owner has the job still.
      if (error instanceof StreamGap) copy.hint ??= ownerId;
      else copy.ownerId = null;
      throw error;
    }
  }

  /** Runs a step that is tried again if it fails. A reader who waits for the feed's first contents gets its error. */
  async function guarded(copy: Copy, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const isExpected = error instanceof BusError || error instanceof ServiceError || error instanceof StreamGap;
      if (!isExpected) log.warn({ err: error, job_id: copy.feed.jobId }, "Following a job's feed failed");
      if (copy.isOpened || !(error instanceof ServiceError)) return;
      copy.opened.reject(error);
      stop(copy);
    }
  }

  /** Goes on with what storage has: all, for a job that has ended. */
  async function takeStored(copy: Copy): Promise<void> {
    const stored = await readStoredFeed(store, copy.feed.jobId);
    if (copy.isOver) return;
    const { position } = copy.replica;
    if (stored === undefined || stored.hasLost(position)) return cut(copy, "lost");
    const tail = new FeedTail(stored, position);
    copy.replica.begin(tail.place);
    const slice = tail.take(Infinity);
    if (slice !== null) take(copy, slice);
  }

  function take(copy: Copy, slice: FeedSlice): void {
    const { feed } = copy;
    const changed = copy.replica.take(slice);
    const grown = memoryBytesOf(feed.items.slice(copy.countedItems));
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

  /** Follows no more. Readers keep what they have. */
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
      // A reader that waited for one that is over comes in a moment.
      if (!copy.isOver || isRead) continue;
      counted.delete(copy);
      bytes -= copy.bytes;
    }
    endWaits();
    timer = counted.size > 0 && !isClosed ? clock.schedule(TICK_MS, tick) : null;
  }

  /**
   * The feed of a job that another coordinator has. It is cut if it takes more memory than there is for it. `after`: where the reader is,
   * who comes back for the rest; then, if the job's copy was cut before, a new one begins there, so that each has more than the last.
   * Undefined: the reader needs all at once.
   * @throws {ServiceError} `cluster_unavailable`, `storage_unavailable`, `overloaded`, `shutting_down`
   */
  async function open(jobId: string, after?: FeedPosition): Promise<Feed> {
    if (after !== undefined) await untilCapacity(jobId, after);
    if (isClosed) throw new ServiceError("shutting_down", "The coordinator stops");
    const { feed, opened } = copyFor(jobId, after);
    await opened.promise;
    const isPart = feed.start.outputs + feed.start.statuses > 0;
    // Whether the position is lost is said by a feed that has all.
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
    /** Goes on with the feed of a job that was this coordinator's, for those who read it. */
    goOn(feed: WritableFeed, ownerId: string | null): void {
      followForNextReader(feed);
      // What has no reader is followed when it gets one.
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
 * Asks storage for the owner of a job, undefined for one that has ended; all who ask at about the same time share a query, as do the
 * readers of a coordinator that died.
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
