import type { Clock, Timer } from "../../../shared/clock.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { JobQuota } from "../../quotas/job-quota.ts";
import { MAX_ASKED_PLACES, type JobPlaces } from "../../store/cluster-store.ts";
import type { ActiveJob } from "../active-job.ts";
import { IndexedQueue } from "./indexed-queue.ts";
import type { JobRegistry } from "../job-registry.ts";

export interface BatchGateDeps {
  /** Owner of the jobs that wait here. */
  readonly jobs: Pick<JobRegistry, "get" | "admitParked">;
  readonly quota: Pick<JobQuota, "isFull" | "onRoom">;
  /** Where several coordinators share the places of an account, it gives them; `quota` then only tells of room. */
  readonly places?: JobPlaces | undefined;
  readonly clock: Clock;
  /** Most unfinished jobs that the account may have now. */
  readonly limitOf: (accountId: string) => Promise<number>;
  /** Called when storage does not answer; a store that gives places may be away for a while. */
  readonly onFatal: (error: unknown) => void;
}

/** The operator may raise a limit from another process, which does not notify this one. */
const RECHECK_MS = 60_000;
/** Nor do other coordinators, when jobs of theirs give places back. */
const RECHECK_SHARED_MS = 1_000;
/** Places that are asked for first. While all are given, all that wait are asked for, so that new batches do not come faster than places. */
const FIRST_ASKED = 100;

interface AccountQueue {
  readonly accountId: string;
  readonly jobs: IndexedQueue;
  /** Places are asked for. */
  isAsking: boolean;
  /** There may be more room than when the question left. */
  hasNews: boolean;
  /** Places to ask for at once. */
  asks: number;
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
      queue = { accountId, jobs: new IndexedQueue(), isAsking: false, hasNews: false, asks: FIRST_ASKED };
      this.#queues.set(accountId, queue);
    }
    return queue;
  }

  #advance(accountId: string): void {
    const queue = this.#queues.get(accountId);
    if (queue === undefined) return;
    queue.hasNews = true;
    if (queue.isAsking) return;
    queue.isAsking = true;
    void this.#ask(queue);
  }

  async #ask(queue: AccountQueue): Promise<void> {
    const { limitOf, places, onFatal } = this.#deps;
    try {
      // An answer covers what happened up to then, but for places that others give.
      while (queue.hasNews) {
        const limit = await limitOf(queue.accountId);
        queue.hasNews = false;
        // Closed, or emptied and made anew, meanwhile.
        if (!this.#isCurrent(queue)) return;
        if (places === undefined) this.#admit(queue, limit);
        else await this.#admitFrom(places, queue, limit);
      }
    } catch (error) {
      // Of a gate that was closed meanwhile nothing is expected. Storage that is away is asked again with the others.
      const isAway = error instanceof ServiceError && error.code === "storage_unavailable";
      if (this.#isCurrent(queue) && !isAway) return onFatal(error);
    }
    queue.isAsking = false;
  }

  /** In one turn, so that no other job takes a place between the check and the admission. */
  #admit(queue: AccountQueue, limit: number): void {
    const { accountId } = queue;
    for (let id = queue.jobs.first; id !== undefined; id = queue.jobs.first) {
      // An Island turned out to have the job already.
      const hasPlace = this.#deps.jobs.get(id)?.hasPlace === true;
      if (!hasPlace && this.#deps.quota.isFull(accountId, limit)) return;
      this.leave({ id, accountId });
      if (!hasPlace) this.#deps.jobs.admitParked(id);
    }
  }

  /** In the order of the queue, as many as the store gives places to. */
  async #admitFrom(places: JobPlaces, queue: AccountQueue, limit: number): Promise<void> {
    const { accountId, jobs } = queue;
    const asked = jobs.firstOf(queue.asks);
    const placed = await places.take(accountId, asked, limit);
    if (!this.#isCurrent(queue)) return;
    for (const id of placed) {
      // One that was cancelled meanwhile gave its place back with its end.
      if (jobs.positionOf(id) === null) continue;
      this.leave({ id, accountId });
      if (this.#deps.jobs.get(id)?.hasPlace === false) this.#deps.jobs.admitParked(id);
    }
    const isAll = placed.length === asked.length;
    queue.asks = isAll ? MAX_ASKED_PLACES : FIRST_ASKED;
    if (isAll && jobs.size > 0) queue.hasNews = true;
  }

  #isCurrent(queue: AccountQueue): boolean {
    return this.#queues.get(queue.accountId) === queue;
  }

  #recheckLater(): void {
    if (this.#timer !== null || this.#queues.size === 0) return;
    const waitMs = this.#deps.places === undefined ? RECHECK_MS : RECHECK_SHARED_MS;
    this.#timer = this.#deps.clock.schedule(waitMs, () => {
      this.#timer = null;
      for (const accountId of this.#queues.keys()) this.#advance(accountId);
      this.#recheckLater();
    });
  }
}
