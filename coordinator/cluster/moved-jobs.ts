import { recentMap } from "../../shared/recent-map.ts";
import { beginRecovery } from "../dispatch/recovery.ts";
import type { Env } from "../env.ts";
import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { BatchService } from "../jobs/batches/batch-service.ts";
import type { HandoverState, ReturningJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Submissions } from "../jobs/submissions.ts";
import type { ActiveJobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { retryWhileUnavailable } from "../store/retry-while-unavailable.ts";
import { MESSAGES, MAX_FAILED_ON, MAX_MOVED } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** Number of concurrent reads while jobs are restored. A started job needs two sequential reads. */
const READERS = 16;
const MAX_REMEMBERED = 10_000;

export type JobMover = ReturnType<typeof moveJobs>;

export interface JobParts {
  readonly store: Pick<Store, "cluster" | "islands">;
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly batches: Pick<BatchService, "restore">;
  readonly submissions: Submissions;
}

/** Moves unfinished jobs between storage and this coordinator's memory. Concurrent calls restore a job once. */
export function moveJobs(
  { store, jobs, islands, batches, submissions }: JobParts,
  peers: Peers,
  { config, clock, log }: Pick<Env<"islandGraceMs" | "restartGraceMs">, "clock" | "config" | "log">,
) {
  const { cluster } = store;
  const handoverStates = shareHandoverStates(peers);
  /** Restorations in flight, by job id. */
  const inFlight = new Map<string, Promise<void>>();
  /** Returns the grace period of Islands: after a restart if this is the only coordinator, else the usual one. */
  const graceMs = (): number => (peers.live.length > 1 ? config.islandGraceMs : config.restartGraceMs);

  async function adopt(jobIds: readonly string[]): Promise<number> {
    let adopted = 0;
    const adoptPart = async (ids: readonly string[]): Promise<void> => {
      const stored = await retryWhileUnavailable(() => cluster.owned(ids), clock);
      const records = stored.map((record): ReturningJob => {
        const handover = handoverStates.take(record.id);
        return handover === undefined ? record : { ...record, handover };
      });
      adopted += records.length;
      if (records.length > 0) log.info(await restore(records), "Adopted jobs");
    };
    for (let from = 0; from < jobIds.length; from += MAX_MOVED)
      await restoreOnce(jobIds.slice(from, from + MAX_MOVED), adoptPart);
    return adopted;
  }

  async function restore(records: readonly ReturningJob[]): Promise<{ waiting: number; held: number }> {
    const readIsland: Store["islands"]["get"] = (hostId) =>
      retryWhileUnavailable(() => store.islands.get(hostId), clock);
    const recovery = beginRecovery(readIsland, jobs, islands, graceMs());
    const shares = Array.from({ length: READERS }, (_, reader) =>
      records.filter((_record, index) => index % READERS === reader),
    );
    await Promise.all(shares.map((share) => recovery.restore(share)));
    const result = await recovery.finish();
    await announceHere(records);
    return result;
  }

  async function claimOne(hostId: string, accountId: string, { jobId, attempt }: AttemptId): Promise<void> {
    const record = await cluster.claim({ jobId, attempt, islandId: hostId });
    if (record === undefined) return;
    await jobs.adoptRunning(record, { islandId: hostId, accountId }, attempt);
    // If the Island leaves before its session is accepted, the attempt gets a grace period.
    if (islands.get(hostId)?.isConnected === true) islands.takeSlot(hostId, { jobId, attempt });
    else islands.awaitReturn(hostId, accountId, [{ jobId, attempt }], graceMs());
    if (record.isClientBound) jobs.awaitReaders([jobId]);
    await announceHere([record]);
  }

  async function announceHere(records: readonly ActiveJobRecord[]): Promise<void> {
    peers.broadcast(MESSAGES.moved, { jobIds: records.map(({ id }) => id) });
    const batchJobs = records.filter(({ batchId }) => batchId !== null).flatMap(({ id }) => jobs.get(id) ?? []);
    if (batchJobs.length > 0) await retryWhileUnavailable(() => batches.restore(batchJobs), clock);
  }

  /** Calls `restoreJobs` with the jobs that are neither here nor being restored. Resolves when all jobs are here. */
  async function restoreOnce(
    jobIds: readonly string[],
    restoreJobs: (ids: readonly string[]) => Promise<void>,
  ): Promise<void> {
    // A stored job may still be arriving from its own submission.
    await Promise.all(jobIds.map((id) => submissions.settled(id)));
    const others = jobIds.flatMap((id) => inFlight.get(id) ?? []);
    const own = jobIds.filter((id) => jobs.get(id) === undefined && !inFlight.has(id));
    const restored = own.length === 0 ? Promise.resolve() : restoreJobs(own);
    for (const id of own) inFlight.set(id, restored);
    try {
      await restored;
    } finally {
      for (const id of own) inFlight.delete(id);
    }
    await Promise.allSettled(others);
  }

  /** Drops jobs whose Island moved to another coordinator. The database decides: a message may be late. */
  async function dropMoved(jobIds: readonly string[], ownerId: string): Promise<void> {
    if (ownerId === cluster.selfId) return;
    const here = new Map(jobIds.flatMap((id) => jobs.get(id) ?? []).map((job) => [job.id, job]));
    if (here.size === 0) return;
    // While storage is unavailable, a rejected write or a comparison finds the move later.
    const owners = await cluster.ownersOf([...here.keys()]).catch(() => new Map<string, string>());
    for (const [id, owner] of owners)
      if (owner !== cluster.selfId && jobs.get(id) === here.get(id)) jobs.drop(id, owner);
  }

  const stop = peers.onBroadcast(MESSAGES.moved, ({ jobIds }, ownerId) => void dropMoved(jobIds, ownerId));

  return {
    /** Transfers waiting jobs to a peer, which must then `adopt` them. Resolves with the ids of the jobs that moved. */
    async transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
      const moving = jobs.beginMove(jobIds);
      if (moving.length === 0) return [];
      const known = jobs.handoverStatesOf(moving);
      let moved: ReadonlySet<string> = new Set();
      try {
        moved = new Set(await cluster.transfer(moving, toId));
      } finally {
        // After an error the jobs are queued again. If they did move, the next write is rejected.
        for (const id of moving) jobs.endMove(id, moved.has(id) ? toId : null);
      }
      const sent = known.filter(({ jobId }) => moved.has(jobId));
      handoverStates.send(toId, sent);
      return [...moved];
    },
    /** Restores jobs that storage assigned to this coordinator. Resolves with the number of jobs that were new here. */
    adopt,
    /** Claims attempts that a connected Island has proved with attempt tokens, if they are the current ones. */
    async claim(hostId: string, accountId: string, attempts: readonly AttemptId[]): Promise<void> {
      await Promise.all(
        attempts.map((attempt) => restoreOnce([attempt.jobId], () => claimOne(hostId, accountId, attempt))),
      );
    },
    /** Compares memory with storage: adopts missing jobs, and drops jobs of other owners. */
    async reconcile(): Promise<void> {
      // Jobs that are submitted or arrive later are not compared.
      const here = new Map([...jobs.list()].map((job) => [job.id, job]));
      const missing: string[] = [];
      for (let after = ""; ;) {
        const part = await retryWhileUnavailable(() => cluster.ownedIds(after, MAX_MOVED), clock);
        for (const id of part) if (!here.delete(id) && jobs.get(id) === undefined) missing.push(id);
        const last = part.at(-1);
        if (last === undefined) break;
        after = last;
      }
      for (const [id, job] of here) if (jobs.get(id) === job) jobs.drop(id);
      await adopt(missing);
    },
    close(): void {
      stop();
      handoverStates.close();
    },
  };
}

/**
 * Sends the handover states of moving jobs to their new owner. Without its state, a job continues as after a restart.
 */
export function shareHandoverStates(peers: Peers) {
  const received = recentMap<HandoverState>(MAX_REMEMBERED);
  const close = peers.handle(MESSAGES.handovers, ({ handovers }) => {
    for (const handover of handovers) received.set(handover.jobId, handover);
    return null;
  });
  return {
    send(toId: string, handoverStates: readonly HandoverState[]): void {
      const bounded = handoverStates.map((each) => ({ ...each, failedOn: each.failedOn.slice(-MAX_FAILED_ON) }));
      for (let from = 0; from < bounded.length; from += MAX_MOVED)
        peers
          .ask(toId, MESSAGES.handovers, { handovers: bounded.slice(from, from + MAX_MOVED) })
          .catch(() => undefined);
    },
    take(jobId: string): HandoverState | undefined {
      const handover = received.get(jobId);
      received.delete(jobId);
      return handover;
    },
    close,
  };
}
