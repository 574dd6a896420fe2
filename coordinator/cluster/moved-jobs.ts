import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { beginRecovery } from "../dispatch/recovery.ts";
import type { AttemptId } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { BatchService } from "../jobs/batches/batch-service.ts";
import type { HandoverState, ReturningJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Submissions } from "../jobs/submissions.ts";
import type { ActiveJobRecord } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { retryWhileUnavailable } from "../store/retry-while-unavailable.ts";
import { M, MAX_LET_DOWNS, MAX_MOVED } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** Reads of one part that are under way at once: a begun job needs two, one after the other. */
const READERS = 16;
/** Handover states that are kept until their jobs are taken in. */
const MAX_REMEMBERED = 10_000;

export type JobMover = ReturnType<typeof moveJobs>;

/** What jobs are and where they are. */
export interface JobParts {
  readonly store: Pick<Store, "cluster" | "islands">;
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly batches: Pick<BatchService, "restore">;
  readonly submissions: Submissions;
}

/**
 * Moves unfinished jobs between storage's owner and this coordinator's memory. Of several calls for one job at a time, one restores it.
 * @param times how long the Islands of jobs that came here may take to come back to any coordinator, and to the only one.
 */
export function moveJobs(
  { store, jobs, islands, batches, submissions }: JobParts,
  peers: Peers,
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Logger, "info"> },
  times: { readonly graceMs: number; readonly restartGraceMs: number },
) {
  const { cluster } = store;
  const handoverStates = shareHandoverStates(peers);
  /** Jobs that are being taken in, and the call that does. */
  const inFlight = new Map<string, Promise<void>>();
  const graceMs = (): number => (peers.live.length > 1 ? times.graceMs : times.restartGraceMs);

  async function adopt(jobIds: readonly string[]): Promise<number> {
    let taken = 0;
    for (let from = 0; from < jobIds.length; from += MAX_MOVED)
      taken += await takePart(jobIds.slice(from, from + MAX_MOVED));
    return taken;
  }

  async function takePart(jobIds: readonly string[]): Promise<number> {
    let taken = 0;
    await once(jobIds, async (ids) => {
      const stored = await retryWhileUnavailable(() => cluster.owned(ids), clock);
      const records = stored.map((record): ReturningJob => {
        const handover = handoverStates.take(record.id);
        return handover === undefined ? record : { ...record, handover };
      });
      taken = records.length;
      if (taken > 0) log.info(await restore(records), "Took over jobs");
    });
    return taken;
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
    await noteHere(records);
    return result;
  }

  async function claimOne(hostId: string, accountId: string, { jobId, attempt }: AttemptId): Promise<void> {
    const record = await cluster.claim({ jobId, attempt, islandId: hostId });
    if (record === undefined) return;
    await jobs.adoptRunning(record, { islandId: hostId, accountId }, attempt);
    // Should the Island leave before it is welcome, the attempt has its grace.
    if (islands.get(hostId)?.isConnected === true) islands.takeSlot(hostId, { jobId, attempt });
    else islands.awaitReturn(hostId, accountId, [{ jobId, attempt }], graceMs());
    if (record.isClientBound) jobs.awaitReaders([jobId]);
    await noteHere([record]);
  }

  /** The jobs are in the registry now. */
  async function noteHere(records: readonly ActiveJobRecord[]): Promise<void> {
    peers.tell(M.moved, { jobIds: records.map(({ id }) => id) });
    const ofBatches = records.filter(({ batchId }) => batchId !== null).flatMap(({ id }) => jobs.get(id) ?? []);
    if (ofBatches.length > 0) await retryWhileUnavailable(() => batches.restore(ofBatches), clock);
  }

  /** Runs `take` for those that are not here and that no other call takes in; resolves when all are. */
  async function once(jobIds: readonly string[], take: (jobIds: readonly string[]) => Promise<void>): Promise<void> {
    // One that is stored may be on its way here from its own submission.
    await Promise.all(jobIds.map((id) => submissions.settled(id)));
    const others = jobIds.flatMap((id) => inFlight.get(id) ?? []);
    const own = jobIds.filter((id) => jobs.get(id) === undefined && !inFlight.has(id));
    const taken = own.length === 0 ? Promise.resolve() : take(own);
    for (const id of own) inFlight.set(id, taken);
    try {
      await taken;
    } finally {
      for (const id of own) inFlight.delete(id);
    }
    await Promise.allSettled(others);
  }

  /**
   * Jobs that an Island brought to another coordinator while this one still waited for it: without the message, clients that ask here would
   * be answered from old memory. The database decides, as a message may be late.
   */
  async function noteMoved(jobIds: readonly string[], ownerId: string): Promise<void> {
    if (ownerId === cluster.selfId) return;
    const here = new Map(jobIds.flatMap((id) => jobs.get(id) ?? []).map((job) => [job.id, job]));
    if (here.size === 0) return;
    // Storage may be away: then a refused write or a comparison tells.
    const owners = await cluster.ownersOf([...here.keys()]).catch(() => new Map<string, string>());
    for (const [id, owner] of owners)
      if (owner !== cluster.selfId && jobs.get(id) === here.get(id)) jobs.drop(id, owner);
  }

  const stop = peers.hear(M.moved, ({ jobIds }, ownerId) => void noteMoved(jobIds, ownerId));

  return {
    /**
     * Gives waiting jobs of this coordinator to a peer, in one commit; resolves with those that moved. They are not dispatched meanwhile,
     * and those that did not move compete again. The receiver must learn of them: see `adopt`.
     */
    async transfer(jobIds: readonly string[], toId: string): Promise<string[]> {
      const moving = jobs.beginMove(jobIds);
      if (moving.length === 0) return [];
      const known = jobs.handoverStatesOf(moving);
      let moved: ReadonlySet<string> = new Set();
      try {
        moved = new Set(await cluster.transfer(moving, toId));
      } finally {
        // After an error they compete again; if they did move, the next write says so.
        for (const id of moving) jobs.endMove(id, moved.has(id) ? toId : null);
      }
      handoverStates.send(
        toId,
        known.filter(({ jobId }) => moved.has(jobId)),
      );
      return [...moved];
    },
    /**
     * Jobs that became this coordinator's in storage: reads and restores them, and they compete. Those that are here already stay as they
     * are. Resolves with the number of those that were not.
     */
    adopt,
    /** Takes over these attempts, which a connected Island has and has proved, if they are the present ones. */
    async claim(hostId: string, accountId: string, attempts: readonly AttemptId[]): Promise<void> {
      await Promise.all(attempts.map((attempt) => once([attempt.jobId], () => claimOne(hostId, accountId, attempt))));
    },
    /**
     * Compares storage with memory: takes in what is this coordinator's and not here, and drops what is here and another's. For when it is
     * not known how a move ended, as its reply was lost.
     */
    async reconcile(): Promise<void> {
      // What is submitted or comes here after this is not looked for.
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
 * What no storage has of jobs that move goes to their new owner, before the message that tells it of the jobs. Where it is lost, the new
 * owner knows as little as after a restart.
 */
export function shareHandoverStates(peers: Peers) {
  const received = recentMap<HandoverState>(MAX_REMEMBERED);
  const close = peers.answer(M.handoverStates, ({ handoverStates }) => {
    for (const handover of handoverStates) received.set(handover.jobId, handover);
    return null;
  });
  return {
    send(toId: string, handoverStates: readonly HandoverState[]): void {
      const bounded = handoverStates.map((each) => ({ ...each, failedOn: each.failedOn.slice(-MAX_LET_DOWNS) }));
      for (let from = 0; from < bounded.length; from += MAX_MOVED)
        peers
          .ask(toId, M.handoverStates, { handoverStates: bounded.slice(from, from + MAX_MOVED) })
          .catch(() => undefined);
    },
    /** Returns and removes the state received for a job; undefined if none arrived. */
    take(jobId: string): HandoverState | undefined {
      const handover = received.get(jobId);
      received.delete(jobId);
      return handover;
    },
    close,
  };
}
