import type { Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Env } from "../../env.ts";
import type { JobQuota } from "../../quotas/job-quota.ts";
import { MAX_ASKED_SLOTS, type QuotaSlots } from "../../store/cluster-store.ts";
import type { ActiveJob } from "../active-job.ts";
import { IndexedQueue } from "./indexed-queue.ts";
import type { JobRegistry } from "../job-registry.ts";

/** Interval of rechecks: an operator may raise a limit from another process, which does not notify this one. */
const RECHECK_MS = 60_000;
/** Interval of rechecks in a cluster: other coordinators do not notify this one when their jobs release quota slots. */
const RECHECK_SHARED_MS = 1_000;
/**
 * Quota slots of the first request. While all requested slots are granted, later requests are larger, so that new
 * batches cannot outpace the grants.
 */
const FIRST_ASKED = 100;

interface AccountQueue {
  readonly accountId: string;
  readonly jobs: IndexedQueue;
  isAsking: boolean;
  /** True if slots may have been released since the last request. */
  hasNews: boolean;
  asks: number;
}

export type BatchGate = ReturnType<typeof openBatchGate>;

/**
 * Queues the parked jobs of batches until their account has a free quota slot. A batch counts job by job, as its jobs
 * begin to compete for Islands, not as a whole on submission.
 * @param limitOf Returns the maximum of unfinished jobs that the account may have now.
 * @param onFatal Called when storage fails. A store that grants slots may be unavailable for a while.
 * @param places Grants quota slots where several coordinators share them; `quota` then only signals free slots. Else
 * null.
 */
export function openBatchGate(
  { clock, onFatal }: Pick<Env, "clock" | "onFatal">,
  jobs: Pick<JobRegistry, "get" | "admitParked">,
  quota: Pick<JobQuota, "isFull" | "onCapacity">,
  limitOf: (accountId: string) => Promise<number>,
  places: QuotaSlots | null,
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
      // A result covers events until the request was sent, except slots that other coordinators release.
      while (queue.hasNews) {
        const limit = await limitOf(queue.accountId);
        queue.hasNews = false;
        // The queue was removed during the request, or removed and created again.
        if (!isCurrent(queue)) return;
        if (places === null) admit(queue, limit);
        else await admitFrom(places, queue, limit);
      }
    } catch (error) {
      // Errors of a closed gate are ignored. An unavailable store is asked again by the recheck.
      const isAway = error instanceof ServiceError && error.code === "storage_unavailable";
      if (isCurrent(queue) && !isAway) return onFatal(error);
    }
    queue.isAsking = false;
  }

  /** Admits jobs synchronously, so that no other job takes a slot between the check and the admission. */
  function admit({ accountId, jobs: waiting }: AccountQueue, limit: number): void {
    for (let id = waiting.first; id !== undefined; id = waiting.first) {
      // True if an Island has reported that it already has the job.
      const hasPlace = jobs.get(id)?.hasPlace === true;
      if (!hasPlace && quota.isFull(accountId, limit)) return;
      leave({ id, accountId });
      if (!hasPlace) jobs.admitParked(id);
    }
  }

  /** Admits jobs in the order of the queue, as many as the store grants slots. */
  async function admitFrom(from: QuotaSlots, queue: AccountQueue, limit: number): Promise<void> {
    const { accountId, jobs: waiting } = queue;
    const asked = waiting.firstOf(queue.asks);
    const placed = await from.take(accountId, asked, limit);
    if (!isCurrent(queue)) return;
    for (const id of placed) {
      // A job that was cancelled during the request released its slot with its end.
      if (waiting.positionOf(id) === null) continue;
      leave({ id, accountId });
      if (jobs.get(id)?.hasPlace === false) jobs.admitParked(id);
    }
    const isAll = placed.length === asked.length;
    queue.asks = isAll ? MAX_ASKED_SLOTS : FIRST_ASKED;
    if (isAll && waiting.size > 0) queue.hasNews = true;
  }

  /** Removes a job that will not run. No-op for a job that does not wait here. */
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
    /** Appends jobs to the queues of their accounts. Jobs with a free quota slot are admitted shortly after. */
    enter(parked: readonly ActiveJob[]): void {
      for (const job of parked) queueOf(job.accountId).jobs.push(job.id);
      for (const accountId of new Set(parked.map((job) => job.accountId))) advance(accountId);
      recheckLater();
    },
    /** Returns the 1-based position in the queue of the account; null for a job that does not wait here. */
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
