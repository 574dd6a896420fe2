import type { Clock, Timer } from "../../shared/clock.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import type { ActiveJob } from "./active-job.ts";
import { IndexedQueue } from "./indexed-queue.ts";
import type { JobRegistry } from "./job-registry.ts";

export interface BatchGateDeps {
  /** Owner of the jobs that wait here. */
  readonly jobs: Pick<JobRegistry, "get" | "admitParked">;
  readonly quota: Pick<JobQuota, "isFull" | "onRoom">;
  readonly clock: Clock;
  /** Most unfinished jobs that the account may have now. */
  readonly limitOf: (accountId: string) => Promise<number>;
  /** Called when storage does not answer. */
  readonly onFatal: (error: unknown) => void;
}

/** The operator may raise a limit from another process, which does not notify this one. */
const RECHECK_MS = 60_000;

interface AccountQueue {
  readonly accountId: string;
  readonly jobs: IndexedQueue;
  /** The account's limit is being read. The answer covers every change up to then, so nothing else needs to read it. */
  isReadingLimit: boolean;
}

/**
 * Queues the parked jobs of batches until their account has a place under its limit of unfinished jobs: a batch counts job by
 * job, as its jobs begin to compete for Islands, not as a whole when it is submitted.
 */
export class BatchGate {
  readonly #deps: BatchGateDeps;
  /** Accounts with at least one waiting job. */
  readonly #queues = new Map<string, AccountQueue>();
  readonly #unsubscribe: () => void;
  #timer: Timer | null = null;

  constructor(deps: BatchGateDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.quota.onRoom((accountId) => this.#advance(accountId));
  }

  /** Appends jobs to the queues of their accounts. Those that have room are admitted a moment later. */
  enter(jobs: readonly ActiveJob[]): void {
    for (const job of jobs) this.#queueOf(job.accountId).jobs.push(job.id);
    for (const accountId of new Set(jobs.map((job) => job.accountId))) this.#advance(accountId);
    this.#recheckLater();
  }

  /** Removes a job that will not run. Does nothing for a job that does not wait here. */
  leave(job: Pick<ActiveJob, "id" | "accountId">): void {
    const queue = this.#queues.get(job.accountId);
    if (queue === undefined || !queue.jobs.remove(job.id)) return;
    if (queue.jobs.size === 0) this.#queues.delete(job.accountId);
  }

  /** 1-based position in the queue of its account; null for a job that does not wait here. */
  positionOf(job: Pick<ActiveJob, "id" | "accountId" | "hasPlace">): number | null {
    return job.hasPlace ? null : (this.#queues.get(job.accountId)?.jobs.positionOf(job.id) ?? null);
  }

  /** Jobs of the account that wait for a place. */
  waitingOf(accountId: string): number {
    return this.#queues.get(accountId)?.jobs.size ?? 0;
  }

  close(): void {
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#queues.clear();
  }

  #queueOf(accountId: string): AccountQueue {
    let queue = this.#queues.get(accountId);
    if (queue === undefined) {
      queue = { accountId, jobs: new IndexedQueue(), isReadingLimit: false };
      this.#queues.set(accountId, queue);
    }
    return queue;
  }

  #advance(accountId: string): void {
    const queue = this.#queues.get(accountId);
    if (queue === undefined || queue.isReadingLimit) return;
    queue.isReadingLimit = true;
    this.#deps.limitOf(accountId).then(
      (limit) => {
        queue.isReadingLimit = false;
        this.#admit(queue, limit);
      },
      (error: unknown) => {
        // Of a gate that was closed meanwhile nothing is expected.
        if (this.#queues.get(accountId) === queue) this.#deps.onFatal(error);
      },
    );
  }

  /** In one turn, so that no other job takes a place between the check and the admission. */
  #admit(queue: AccountQueue, limit: number): void {
    const { accountId } = queue;
    // Closed, or emptied and made anew, while the limit was read.
    if (this.#queues.get(accountId) !== queue) return;
    for (let id = queue.jobs.first; id !== undefined; id = queue.jobs.first) {
      // An Island turned out to have the job already.
      const hasPlace = this.#deps.jobs.get(id)?.hasPlace === true;
      if (!hasPlace && this.#deps.quota.isFull(accountId, limit)) return;
      this.leave({ id, accountId });
      if (!hasPlace) this.#deps.jobs.admitParked(id);
    }
  }

  #recheckLater(): void {
    if (this.#timer !== null || this.#queues.size === 0) return;
    this.#timer = this.#deps.clock.schedule(RECHECK_MS, () => {
      this.#timer = null;
      for (const accountId of this.#queues.keys()) this.#advance(accountId);
      this.#recheckLater();
    });
  }
}
