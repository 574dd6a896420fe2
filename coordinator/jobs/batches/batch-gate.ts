import type { Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Env } from "../../env.ts";
import type { JobQuota } from "../../quotas/job-quota.ts";
import { MAX_REQUESTED_SLOTS, type QuotaSlots } from "../../store/cluster-store.ts";
import type { ActiveJob } from "../active-job.ts";
import { IndexedQueue } from "./indexed-queue.ts";
import type { JobRegistry } from "../job-registry.ts";

/** Interval of rechecks. An operator may raise a limit from another process, which does not notify this one. */
const RECHECK_MS = 60_000;
/** Interval of rechecks in a cluster. Other coordinators do not notify this one when their jobs release quota slots. */
const RECHECK_SHARED_MS = 1_000;
/** Number of slots in the first request. Later ones are larger while all slots are granted. */
const FIRST_REQUESTED = 100;

interface AccountQueue {
  readonly accountId: string;
  readonly jobs: IndexedQueue;
  isRequesting: boolean;
  /** True if slots may have been released since the last request. */
  isStale: boolean;
  /** Number of slots in the next request to shared quotas. */
  batchSize: number;
}

function newQueue(accountId: string): AccountQueue {
  return { accountId, jobs: new IndexedQueue(), isRequesting: false, isStale: false, batchSize: FIRST_REQUESTED };
}

export type BatchGate = ReturnType<typeof openBatchGate>;

/**
 * Queues the parked jobs of batches until their account has a free quota slot.
 * @param onFatal Called when storage fails, but not while it is unavailable.
 * @param quotaSlots Grants the quota slots that the coordinators of a cluster share; `quota` then only signals free
 * slots. Null for a single coordinator.
 */
export function openBatchGate(
  { clock, onFatal }: Pick<Env, "clock" | "onFatal">,
  jobs: Pick<JobRegistry, "get" | "admitParked">,
  quota: Pick<JobQuota, "isFull" | "onCapacity">,
  limitOf: (accountId: string) => Promise<number>,
  quotaSlots: QuotaSlots | null,
) {
  /** Accounts with at least one waiting job. */
  const queues = new Map<string, AccountQueue>();
  let timer: Timer | null = null;
  const unsubscribe = quota.onCapacity(advance);

  function advance(accountId: string): void {
    const queue = queues.get(accountId);
    if (queue === undefined) return;
    queue.isStale = true;
    if (queue.isRequesting) return;
    queue.isRequesting = true;
    void requestSlots(queue);
  }

  async function requestSlots(queue: AccountQueue): Promise<void> {
    try {
      // A request covers all slots that were released here before it, but no later releases.
      while (queue.isStale) {
        const limit = await limitOf(queue.accountId);
        queue.isStale = false;
        // The queue was removed during the request, or removed and created again.
        if (!isCurrent(queue)) return;
        if (quotaSlots === null) admit(queue, limit);
        else await admitFrom(quotaSlots, queue, limit);
      }
    } catch (error) {
      // Errors of a closed gate are ignored. The recheck retries an unavailable store.
      const isUnavailable = error instanceof ServiceError && error.code === "storage_unavailable";
      if (isCurrent(queue) && !isUnavailable) return onFatal(error);
    }
    queue.isRequesting = false;
  }

  /** Admits waiting jobs while slots are free. Synchronous: no other job takes a slot between check and admission. */
  function admit({ accountId, jobs: waiting }: AccountQueue, limit: number): void {
    for (let id = waiting.first; id !== undefined; id = waiting.first) {
      // True if an Island has reported that it already has the job.
      const holdsQuota = jobs.get(id)?.holdsQuota === true;
      if (!holdsQuota && quota.isFull(accountId, limit)) return;
      leave({ id, accountId });
      if (!holdsQuota) jobs.admitParked(id);
    }
  }

  async function admitFrom(from: QuotaSlots, queue: AccountQueue, limit: number): Promise<void> {
    const { accountId, jobs: waiting } = queue;
    const requested = waiting.firstOf(queue.batchSize);
    const granted = await from.take(accountId, requested, limit);
    if (!isCurrent(queue)) return;
    for (const id of granted) {
      // The job ended during the request, and its end released the slot.
      if (waiting.positionOf(id) === null) continue;
      leave({ id, accountId });
      if (jobs.get(id)?.holdsQuota === false) jobs.admitParked(id);
    }
    const isAll = granted.length === requested.length;
    queue.batchSize = isAll ? MAX_REQUESTED_SLOTS : FIRST_REQUESTED;
    if (isAll && waiting.size > 0) queue.isStale = true;
  }

  /** Removes a job from the queue of its account. Ignores a job that does not wait here. */
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
    timer = clock.schedule(quotaSlots === null ? RECHECK_MS : RECHECK_SHARED_MS, () => {
      timer = null;
      for (const accountId of queues.keys()) advance(accountId);
      recheckLater();
    });
  }

  return {
    leave,
    enter(parked: readonly ActiveJob[]): void {
      for (const { id, accountId } of parked) {
        const queue = queues.get(accountId) ?? newQueue(accountId);
        queues.set(accountId, queue);
        queue.jobs.push(id);
      }
      for (const accountId of new Set(parked.map((job) => job.accountId))) advance(accountId);
      recheckLater();
    },
    /** Returns the 1-based position among the account's waiting jobs; null for a job that does not wait here. */
    positionOf({ id, accountId, holdsQuota }: Pick<ActiveJob, "id" | "accountId" | "holdsQuota">): number | null {
      return holdsQuota ? null : (queues.get(accountId)?.jobs.positionOf(id) ?? null);
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
