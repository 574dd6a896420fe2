import type { Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Env } from "../../env.ts";
import type { JobQuota } from "../../quotas/job-quota.ts";
import { MAX_ASKED_PLACES, type JobPlaces } from "../../store/cluster-store.ts";
import type { ActiveJob } from "../active-job.ts";
import { IndexedQueue } from "./indexed-queue.ts";
import type { JobRegistry } from "../job-registry.ts";

/** The operator may raise a limit from another process, which does not notify this one. */
const RECHECK_MS = 60_000;
/** Nor do other coordinators, when jobs of theirs give places back. */
const RECHECK_SHARED_MS = 1_000;
/** Places that are asked for first. While all are given, all that wait are asked for, so that new batches do not come faster than places. */
const FIRST_ASKED = 100;

interface AccountQueue {
  readonly accountId: string;
  readonly jobs: IndexedQueue;
  isAsking: boolean;
  /** There may be more room than when the question left. */
  hasNews: boolean;
  /** Places to ask for at once. */
  asks: number;
}

export type BatchGate = ReturnType<typeof openBatchGate>;

/**
 * Queues the parked jobs of batches until their account has a place under its limit of unfinished jobs: a batch counts job by
 * job, as its jobs begin to compete for Islands, not as a whole when it is submitted.
 * @param limitOf most unfinished jobs that the account may have now. @param onFatal called when storage does not answer it; a store that
 *   gives places may be away for a while.
 * @param places where several coordinators share the places of an account, they come from it; `quota` then only tells of room. Else null.
 */
export function openBatchGate(
  { clock, onFatal }: Pick<Env, "clock" | "onFatal">,
  jobs: Pick<JobRegistry, "get" | "admitParked">,
  quota: Pick<JobQuota, "isFull" | "onCapacity">,
  limitOf: (accountId: string) => Promise<number>,
  places: JobPlaces | null,
) {
  /** Accounts with at least one waiting job. */
  const queues = new Map<string, AccountQueue>();
  let timer: Timer | null = null;
  const unsubscribe = quota.onCapacity(advance);

  function queueOf(accountId: string): AccountQueue {
    let queue = queues.get(accountId);
    if (queue === undefined) {
      queue = { accountId, jobs: new IndexedQueue(), isAsking: false, hasNews: false, asks: FIRST_ASKED };
      queues.set(accountId, queue);
    }
    return queue;
  }

  function advance(accountId: string): void {
    const queue = queues.get(accountId);
    if (queue === undefined) return;
    queue.hasNews = true;
    if (queue.isAsking) return;
    queue.isAsking = true;
    void ask(queue);
  }

  async function ask(queue: AccountQueue): Promise<void> {
    try {
      // An answer covers what happened up to then, but for places that others give.
      while (queue.hasNews) {
        const limit = await limitOf(queue.accountId);
        queue.hasNews = false;
        // Closed, or emptied and made anew, meanwhile.
        if (!isCurrent(queue)) return;
        if (places === null) admit(queue, limit);
        else await admitFrom(places, queue, limit);
      }
    } catch (error) {
      // Of a gate that was closed meanwhile nothing is expected. Storage that is away is asked again with the others.
      const isAway = error instanceof ServiceError && error.code === "storage_unavailable";
      if (isCurrent(queue) && !isAway) return onFatal(error);
    }
    queue.isAsking = false;
  }

  /** In one turn, so that no other job takes a place between the check and the admission. */
  function admit({ accountId, jobs: waiting }: AccountQueue, limit: number): void {
    for (let id = waiting.first; id !== undefined; id = waiting.first) {
      // An Island turned out to have the job already.
      const hasPlace = jobs.get(id)?.hasPlace === true;
      if (!hasPlace && quota.isFull(accountId, limit)) return;
      leave({ id, accountId });
      if (!hasPlace) jobs.admitParked(id);
    }
  }

  /** In the order of the queue, as many as the store gives places to. */
  async function admitFrom(from: JobPlaces, queue: AccountQueue, limit: number): Promise<void> {
    const { accountId, jobs: waiting } = queue;
    const asked = waiting.firstOf(queue.asks);
    const placed = await from.take(accountId, asked, limit);
    if (!isCurrent(queue)) return;
    for (const id of placed) {
      // One that was cancelled meanwhile gave its place back with its end.
      if (waiting.positionOf(id) === null) continue;
      leave({ id, accountId });
      if (jobs.get(id)?.hasPlace === false) jobs.admitParked(id);
    }
    const isAll = placed.length === asked.length;
    queue.asks = isAll ? MAX_ASKED_PLACES : FIRST_ASKED;
    if (isAll && waiting.size > 0) queue.hasNews = true;
  }

  /** Removes a job that will not run. Does nothing for a job that does not wait here. */
  function leave({ id, accountId }: Pick<ActiveJob, "id" | "accountId">): void {
    const queue = queues.get(accountId);
    if (queue === undefined || !queue.jobs.remove(id)) return;
    if (queue.jobs.size === 0) queues.delete(accountId);
  }

  function isCurrent(queue: AccountQueue): boolean {
    return queues.get(queue.accountId) === queue;
  }

  function recheckLater(): void {
    if (timer !== null || queues.size === 0) return;
    timer = clock.schedule(places === null ? RECHECK_MS : RECHECK_SHARED_MS, () => {
      timer = null;
      for (const accountId of queues.keys()) advance(accountId);
      recheckLater();
    });
  }

  return {
    leave,
    /** Appends jobs to the queues of their accounts. Those that have room are admitted a moment later. */
    enter(parked: readonly ActiveJob[]): void {
      for (const job of parked) queueOf(job.accountId).jobs.push(job.id);
      for (const accountId of new Set(parked.map((job) => job.accountId))) advance(accountId);
      recheckLater();
    },
    /** 1-based position in the queue of its account; null for a job that does not wait here. */
    positionOf({ id, accountId, hasPlace }: Pick<ActiveJob, "id" | "accountId" | "hasPlace">): number | null {
      return hasPlace ? null : (queues.get(accountId)?.jobs.positionOf(id) ?? null);
    },
    waitingOf(accountId: string): number {
      return queues.get(accountId)?.jobs.size ?? 0;
    },
    close(): void {
      unsubscribe();
      timer?.cancel();
      queues.clear();
    },
  };
}
