import { abortable } from "../../shared/async/abortable.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Env } from "../env.ts";
import type { AccountEvents } from "../events/account-events.ts";
import type { BatchService } from "../jobs/batches/batch-service.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { WorkKind } from "../scheduler/events.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Outlook } from "../scheduler/shared-work.ts";
import type { Peer } from "../store/cluster-store.ts";
import { keepLease } from "./membership.ts";
import { MESSAGES, MAX_MOVED, MAX_READING_OWNERS } from "./messages.ts";
import { moveJobs, type JobMover, type JobParts } from "./moved-jobs.ts";
import { networkQuota } from "./network-quota.ts";
import { orderSessions } from "./newest-sessions.ts";
import type { Network } from "./open-network.ts";
import type { PeersEnv } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";
import { shareEvents } from "./share-events.ts";
import { adoptUnowned } from "./adopt-unowned.ts";
import { whileOthers } from "./while-others.ts";
import { shareWork, type WorkSharing } from "./work-sharing.ts";

/** Poll interval for ended batches: a bus message may be lost. */
const BATCHES_POLL_MS = 5_000;

interface SharedParts extends JobParts {
  readonly batches: BatchService;
  readonly scheduler: Scheduler;
  readonly refreshCatalog: () => Promise<void>;
}

export type ClusterMember = ReturnType<typeof openMember>;

/**
 * Joins the network: holds the lease, moves jobs, counts limits and Island sessions network-wide, and shares work. A
 * single coordinator has no lease.
 */
export function openMember(
  env: Env<"busAddress" | "islandGraceMs" | "leaseMs" | "leaseRenewMs" | "restartGraceMs">,
  network: Pick<Network, "learnTime" | "peers" | "seen">,
  parts: SharedParts,
) {
  const { jobs, islands, batches, scheduler } = parts;
  const { cluster } = parts.store;
  const { peers, seen } = network;
  const { config, clock, log } = env;
  const mover = moveJobs(parts, peers, env);
  const lease = cluster.isShared ? keepLease(env, cluster, network, mover) : null;
  const quota = networkQuota(peers, clock);
  const sessions = orderSessions(peers, islands, cluster.islandSessions, log);
  const stopBatches = endBatchesEverywhere(peers, jobs, batches, env);
  let sharing: WorkSharing | null = null;
  let adoption: ReturnType<typeof adoptUnowned> | null = null;
  /** Number of jobs that stopping coordinators transferred to this one. */
  let handedOver = 0;

  const stopTakes = peers.handle(MESSAGES.take, async ({ jobIds }) => {
    const taken = await mover.adopt(jobIds);
    handedOver += taken;
    return null;
  });
  /** Functions that remove handlers. These handlers use parts which close before `leave()`. */
  const stopHandlers = [
    peers.handle(MESSAGES.endAccount, async ({ accountId }) => {
      await jobs.cancelAll(accountId);
      return null;
    }),
    peers.handle(MESSAGES.catalog, async () => {
      await parts.refreshCatalog();
      return null;
    }),
  ];

  return {
    mover,
    quota,
    sessions,
    /** Counts the jobs that moved here, by cause, and the dead coordinators that this one removed. */
    get counts() {
      return { ...cluster.takenOver, stolen: sharing?.stolen ?? 0, handedOver };
    },
    /** Acquires the lease. @throws {ServiceError} `storage_unavailable`; may be repeated */
    async start(): Promise<void> {
      await lease?.start();
      const others = peers.others.map(({ address }) => address);
      if (config.busAddress !== null || others.length === 0) return;
      const text =
        "Other coordinators use this database, but this coordinator has no bus: work, output and limits are not shared. Set the same bus for all coordinators";
      log.warn({ others }, text);
    },
    /**
     * Starts to share work, and to run `steps` (by name) when another coordinator dies.
     * @param readersOf returns the owners whose Islands here can read answers of a Cargo
     */
    share(
      dispatcher: Pick<Dispatcher, "outlookFor" | "schedule">,
      readersOf: (slug: string) => readonly string[],
      steps: Readonly<Record<string, () => Promise<unknown>>>,
    ): void {
      sharing = shareWork(peers, mover, scheduler.shared, (event) => dispatcher.schedule(event), env);
      seen.begin(sharing);
      stopHandlers.push(peers.handle(MESSAGES.outlook, (kind) => dispatcher.outlookFor(kind)));
      stopHandlers.push(peers.handle(MESSAGES.readers, ({ slug }) => readersOf(slug).slice(0, MAX_READING_OWNERS)));
      if (!cluster.isShared) return;
      adoption = adoptUnowned(peers, cluster, steps, 2 * config.leaseMs, env);
      adoption.start();
    },
    /** Asks all other coordinators whether their Islands may run jobs of a kind. Null for each that does not reply. */
    async outlooksFor({ slug, onlyIslandsOf, features }: WorkKind): Promise<readonly (Outlook | null)[]> {
      const replies = await peers.askAll(MESSAGES.outlook, { slug, onlyIslandsOf, features });
      return replies.map(({ reply }) => reply ?? null);
    },
    /** Asks all other coordinators for owners that can read answers of a Cargo; null for a single coordinator. */
    readersElsewhere(slug: string) {
      return peers.others.length === 0 ? null : peers.askAll(MESSAGES.readers, { slug });
    },
    shareEvents(accountEvents: AccountEvents): void {
      shareEvents(accountEvents, peers, clock);
    },
    /** Returns the number of waiting jobs by Cargo, here and at other coordinators according to their last status. */
    queuedDemand(): ReadonlyMap<string, number> {
      const demand = new Map(scheduler.queuedDemand());
      for (const [slug, waiting] of seen.waitingElsewhere()) demand.set(slug, (demand.get(slug) ?? 0) + waiting);
      return demand;
    },
    /**
     * Cancels a deleted account's jobs at every coordinator that replies. Jobs at the others are cancelled when the
     * removal is retried.
     */
    async endJobsOf(accountId: string): Promise<void> {
      const fault = "A peer could not cancel the jobs of a deleted account";
      await Promise.all([jobs.cancelAll(accountId), peers.askAll(MESSAGES.endAccount, { accountId }, fault)]);
    },
    /** Announces a changed Cargo. Resolves when each other coordinator has read the Cargo or timed out. */
    async announceCatalogChange(): Promise<void> {
      // Storage knows a newly started coordinator earlier than `peers` does.
      const live = await cluster.peers().catch(() => peers.live);
      const others = live.filter(({ id }) => id !== peers.self.id);
      await peers.askAll(MESSAGES.catalog, null, undefined, others);
    },
    /** Runs the first half of a stop: transfers waiting jobs. Resolves with the addresses to which Islands may go. */
    async transfer(signal: AbortSignal): Promise<readonly string[]> {
      await abortable(sharing?.close() ?? Promise.resolve(), signal).catch(() => undefined);
      await transferWaiting(peers, mover, jobs, sharing?.freestPeer(), signal, log);
      return peers.others.map(({ address }) => address);
    },
    /** Stops sharing and adopting work, before the parts that the steps use are closed. */
    async closeSharing(): Promise<void> {
      for (const stop of stopHandlers) stop();
      // After a failed start, work sharing is still open.
      await Promise.all([sharing?.close(), adoption?.close()]);
    },
    /** Runs the second half of a stop, after clients and Islands have gone. Jobs that are left become unowned. */
    async leave(): Promise<void> {
      quota.close();
      stopTakes();
      stopBatches();
      mover.close();
      await lease?.leave();
    },
  };
}

/**
 * Transfers the waiting jobs of a stopping coordinator to a peer until `signal` aborts. Resolves with the number of
 * jobs that moved. Other coordinators adopt the rest: jobs that Islands hold, and all jobs if no peer is live or the
 * bus is down.
 */
export async function transferWaiting(
  peers: Peers,
  mover: Pick<JobMover, "transfer">,
  jobs: Pick<JobRegistry, "list">,
  freestPeer: Peer | undefined,
  signal: AbortSignal,
  log: Pick<Logger, "info" | "warn">,
): Promise<number> {
  const peer = freestPeer ?? peers.others[0];
  // Without the bus, the peer would not be notified of the jobs and would not run them.
  if (peer === undefined || peers.downReason !== null) return 0;
  const waiting = [...jobs.list()].filter(({ state }) => state === "pending").map(({ id }) => id);
  let count = 0;
  try {
    for (let from = 0; from < waiting.length; from += MAX_MOVED) {
      const moved = await abortable(mover.transfer(waiting.slice(from, from + MAX_MOVED), peer.id), signal);
      count += moved.length;
      if (moved.length > 0) await abortable(peers.ask(peer.id, MESSAGES.take, { jobIds: moved }), signal);
    }
  } catch (error) {
    log.warn({ err: error, peer: peer.id }, "Could not transfer all waiting jobs; peers will adopt the rest");
  }
  if (count > 0) log.info({ count, coordinator: peer.id }, "Transferred waiting jobs");
  return count;
}

/**
 * Ends the jobs of failed batches, which may be spread over all coordinators. Returns a function that stops polling.
 */
function endBatchesEverywhere(
  peers: Peers,
  jobs: JobRegistry,
  batches: Pick<BatchService, "activeIds" | "cancelEnded">,
  { clock, log }: PeersEnv,
): () => void {
  let isClosed = false;

  async function check(batchIds: readonly string[]): Promise<boolean> {
    try {
      await batches.cancelEnded(batchIds);
      return true;
    } catch (error) {
      if (!isClosed) log.warn({ err: error }, "Could not check for ended batches");
      return false;
    }
  }

  jobs.subscribe((event) => {
    if (event.type !== "job_ended" || event.job.batchId === null) return;
    const { batchId, state, settled } = event.job;
    if (state === "failed" || state === "timeout")
      void settled?.then(() => peers.broadcast(MESSAGES.batchEnded, { batchId }));
  });
  const stop = peers.onBroadcast(MESSAGES.batchEnded, ({ batchId }, fromId) => {
    if (fromId !== peers.self.id) void check([batchId]);
  });
  const stopPolling = whileOthers(peers, clock, BATCHES_POLL_MS, () => check(batches.activeIds));
  return () => {
    isClosed = true;
    stop();
    stopPolling();
  };
}
