import { abortable } from "../../shared/async/abortable.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Env } from "../env.ts";
import type { AccountEvents } from "../events/account-events.ts";
import type { BatchService } from "../jobs/batches/batch-service.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { SchedulerEvent } from "../scheduler/events.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Outlook, WorkKind } from "../scheduler/shared-work.ts";
import type { Peer, TakenOver } from "../store/cluster-store.ts";
import { keepLease } from "./membership.ts";
import { M, MAX_MOVED } from "./messages.ts";
import { moveJobs, type JobMover, type JobParts } from "./moved-jobs.ts";
import { networkQuota } from "./network-quota.ts";
import { orderSessions } from "./newest-sessions.ts";
import type { Network } from "./open-network.ts";
import type { Peers } from "./peers.ts";
import { shareEvents } from "./share-events.ts";
import { adoptUnowned } from "./adopt-unowned.ts";
import { whileOthers } from "./while-others.ts";
import { shareWork, type WorkSharing } from "./work-sharing.ts";

/** A message about a batch may be lost: storage is asked this often. */
const BATCHES_POLL_MS = 5_000;

interface SharedParts extends JobParts {
  readonly batches: BatchService;
  readonly scheduler: Scheduler;
  /** Reads the stored Cargos. */
  readonly refreshCatalog: () => Promise<void>;
}

interface SharingDispatcher {
  /** Tells the scheduler, and carries out what it decides. */
  schedule(event: Extract<SchedulerEvent, { kind: "job_stays" }>): void;
  /** Whether Islands here may run jobs of a kind. */
  outlookFor(kind: WorkKind): Outlook;
}

export type ClusterMember = ReturnType<typeof openMember>;

/**
 * A coordinator's part in its network: a lease, jobs that move, limits and sessions of Islands that are counted for the network, work that
 * is shared, and what others leave behind. In a network of one there is no lease, and nothing to take over.
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
  const times = { graceMs: config.islandGraceMs, restartGraceMs: config.restartGraceMs };
  const mover = moveJobs(parts, peers, env, times);
  const lease = cluster.isShared ? keepLease(env, cluster, network, mover) : null;
  const quota = networkQuota(peers, clock);
  const sessions = orderSessions(peers, islands, cluster.islandSessions, log);
  const stopBatches = endBatchesEverywhere(peers, jobs, batches, env);
  let sharing: WorkSharing | null = null;
  let takingOver: ReturnType<typeof adoptUnowned> | null = null;
  /** Jobs that coordinators which stopped gave to this one. */
  let handedOver = 0;

  const stopTakes = peers.answer(M.take, async ({ jobIds }) => {
    const taken = await mover.adopt(jobIds);
    handedOver += taken;
    return null;
  });
  /** End the answers that use what is closed before `leave()`. */
  const stopAnswers = [
    peers.answer(M.endAccount, async ({ accountId }) => {
      await jobs.cancelAll(accountId);
      return null;
    }),
    peers.answer(M.catalog, async () => {
      await parts.refreshCatalog();
      return null;
    }),
  ];

  return {
    mover,
    quota,
    sessions,
    /** Jobs that came here, by how, and coordinators that this one removed. */
    get counts(): TakenOver & { readonly stolen: number; readonly handedOver: number } {
      const { adopted, claimed, reaped } = cluster.takenOver;
      return { adopted, claimed, reaped, stolen: sharing?.stolen ?? 0, handedOver };
    },
    /** Begins the lease, before clients and Islands are let in. @throws {ServiceError} `storage_unavailable`; then it may be called again. */
    async start(): Promise<void> {
      await lease?.start();
      const others = peers.others.map(({ address }) => address);
      if (config.busAddress !== null || others.length === 0) return;
      const text =
        "Other coordinators have leases in this database, and this one has no bus: it shares no work, output or limits with them. Give all of them the same bus";
      log.warn({ others }, text);
    },
    /** Shares work from now on, and takes over what others leave: `steps`, by name. */
    share(dispatcher: SharingDispatcher, steps: Readonly<Record<string, () => Promise<unknown>>>): void {
      sharing = shareWork(peers, mover, scheduler.shared, (event) => dispatcher.schedule(event), env);
      seen.begin(sharing);
      stopAnswers.push(peers.answer(M.outlook, (kind) => dispatcher.outlookFor(kind)));
      if (!cluster.isShared) return;
      takingOver = adoptUnowned(peers, cluster, steps, 2 * config.leaseMs, env);
      takingOver.start();
    },
    /** Whether Islands of the other coordinators may run jobs of a kind. Null for each that does not respond. */
    async outlooksFor({ slug, onlyIslandsOf, features }: WorkKind): Promise<readonly (Outlook | null)[]> {
      const replies = await peers.askAll(M.outlook, { slug, onlyIslandsOf, features });
      return replies.map(({ reply }) => reply ?? null);
    },
    /** Changes for accounts reach their listeners at all coordinators from now on. */
    shareEvents(accountEvents: AccountEvents): void {
      shareEvents(accountEvents, peers, clock);
    },
    /** Waiting jobs by Cargo, here and at the other coordinators, as those said last. */
    queuedDemand(): ReadonlyMap<string, number> {
      const demand = new Map(scheduler.queuedDemand());
      for (const [slug, waiting] of seen.waitingElsewhere()) demand.set(slug, (demand.get(slug) ?? 0) + waiting);
      return demand;
    },
    /**
     * Cancels the unfinished jobs of a deleted account, whichever coordinator has them. Resolves when they are cancelled wherever one
     * answers; the others end them when the removal of the account is tried again.
     */
    async endJobsOf(accountId: string): Promise<void> {
      const fault = "Peer could not cancel the jobs of a deleted account";
      await Promise.all([jobs.cancelAll(accountId), peers.askAll(M.endAccount, { accountId }, fault)]);
    },
    /** A Cargo was changed here: the next request may go to any coordinator. Resolves when the others have read it, or do not answer. */
    async tellCatalogChange(): Promise<void> {
      // A coordinator that has just started is known to storage first.
      const live = await cluster.peers().catch(() => peers.live);
      const others = live.filter(({ id }) => id !== peers.self.id);
      await peers.askAll(M.catalog, null, undefined, others);
    },
    /**
     * The first half of an orderly stop, while Islands and clients are still here. Resolves with where the Islands may go, at the latest
     * when `signal` aborts.
     */
    async transfer(signal: AbortSignal): Promise<readonly string[]> {
      await abortable(sharing?.close() ?? Promise.resolve(), signal).catch(() => undefined);
      await transferWaiting(peers, mover, jobs, sharing?.freestPeer(), signal, log);
      return peers.others.map(({ address }) => address);
    },
    /** Nothing is taken over any more, nor done for others. Before what the steps use is closed. */
    async closeTakeOver(): Promise<void> {
      for (const stop of stopAnswers) stop();
      // A start that failed has not handed over.
      await Promise.all([sharing?.close(), takingOver?.close()]);
    },
    /** The second half: Islands and clients have gone. Jobs that are left become unowned. Before bus and store close. */
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
 * Gives the waiting jobs of a coordinator that stops to a peer, until `signal` aborts. Resolves with their number. The others adopt what
 * stays behind: the jobs that Islands have, and all where no peer lives or the bus is down.
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
  // A peer that does not learn of its jobs would not run them.
  if (peer === undefined || peers.downBecause !== null) return 0;
  const waiting = [...jobs.list()].filter(({ state }) => state === "pending").map(({ id }) => id);
  let count = 0;
  try {
    for (let from = 0; from < waiting.length; from += MAX_MOVED) {
      const moved = await abortable(mover.transfer(waiting.slice(from, from + MAX_MOVED), peer.id), signal);
      count += moved.length;
      if (moved.length > 0) await abortable(peers.ask(peer.id, M.take, { jobIds: moved }), signal);
    }
  } catch (error) {
    log.warn({ err: error, peer: peer.id }, "Not all waiting jobs were handed over: the others find them");
  }
  if (count > 0) log.info({ count, peer: peer.id }, "Handed waiting jobs over");
  return count;
}

/**
 * The jobs of one batch may be at several coordinators: each learns when the batch is over, and ends those that it has. Until the returned
 * function is called.
 */
function endBatchesEverywhere(
  peers: Peers,
  jobs: JobRegistry,
  batches: Pick<BatchService, "activeIds" | "endOver">,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "warn"> },
): () => void {
  let isClosed = false;

  /** False if storage could not say. */
  async function look(batchIds: readonly string[]): Promise<boolean> {
    try {
      await batches.endOver(batchIds);
      return true;
    } catch (error) {
      if (!isClosed) log.warn({ err: error }, "Looking for batches that are over failed");
      return false;
    }
  }

  jobs.subscribe((event) => {
    if (event.type !== "job_ended" || event.job.batchId === null) return;
    const { batchId, state, settled } = event.job;
    if (state === "failed" || state === "timeout") void settled?.then(() => peers.tell(M.batchEnded, { batchId }));
  });
  const stop = peers.hear(M.batchEnded, ({ batchId }, fromId) => {
    // This coordinator has ended its own jobs already.
    if (fromId !== peers.self.id) void look([batchId]);
  });
  const stopLooking = whileOthers(peers, clock, BATCHES_POLL_MS, () => look(batches.activeIds));
  return () => {
    isClosed = true;
    stop();
    stopLooking();
  };
}
