import type { Clock, Timer } from "../../shared/clock.ts";
import type { JobQuota } from "../quotas/job-quota.ts";
import type { LiveJob } from "./live-job.ts";
import { WaitingLine } from "./waiting-line.ts";

export interface BatchGateDeps {
  readonly quota: JobQuota;
  readonly clock: Clock;
  /** Most unfinished jobs that the account may have now. */
  readonly limitOf: (accountId: string) => Promise<number>;
  /** Takes a job that has got its place. */
  readonly admit: (job: LiveJob) => void;
  /** Storage does not answer. */
  readonly onFatal: (error: unknown) => void;
}

/** The operator may raise a limit from another process, of which nobody tells us. */
const LOOK_AGAIN_MS = 60_000;

interface Line {
  readonly accountId: string;
  /** First come, first served. */
  readonly jobs: WaitingLine;
  /** The account's limit is being asked for; whoever asked will see every change up to the answer. */
  isAsking: boolean;
}

/**
 * Where jobs of batches wait until their account has room under its limit of unfinished jobs: a batch counts job by job, as
 * they begin to compete for Islands, and not as a whole when it is submitted.
 */
export class BatchGate {
  readonly #deps: BatchGateDeps;
  /** Accounts with at least one waiting job. */
  readonly #lines = new Map<string, Line>();
  readonly #unsubscribe: () => void;
  #timer: Timer | null = null;

  constructor(deps: BatchGateDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.quota.onRoom((accountId) => this.#advance(accountId));
  }

  /** Puts jobs of one account at the end of its line; those that there is room for are admitted a moment later. */
  enter(jobs: readonly LiveJob[]): void {
    for (const job of jobs) this.#lineOf(job.accountId).jobs.push(job);
    for (const accountId of new Set(jobs.map((job) => job.accountId))) this.#advance(accountId);
    this.#lookAgainLater();
  }

  /** Takes a job out that will not run. Does nothing for one that does not wait here. */
  leave(job: LiveJob): void {
    const line = this.#lines.get(job.accountId);
    if (line === undefined || !line.jobs.remove(job.id)) return;
    if (line.jobs.size === 0) this.#lines.delete(job.accountId);
  }

  /** 1-based place in its account's line; null for a job that does not wait here. */
  positionOf(job: LiveJob): number | null {
    return job.hasPlace ? null : (this.#lines.get(job.accountId)?.jobs.positionOf(job.id) ?? null);
  }

  /** Jobs of the account that wait for room. */
  waitingOf(accountId: string): number {
    return this.#lines.get(accountId)?.jobs.size ?? 0;
  }

  close(): void {
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#lines.clear();
  }

  #lineOf(accountId: string): Line {
    let line = this.#lines.get(accountId);
    if (line === undefined) {
      line = { accountId, jobs: new WaitingLine(), isAsking: false };
      this.#lines.set(accountId, line);
    }
    return line;
  }

  #advance(accountId: string): void {
    const line = this.#lines.get(accountId);
    if (line === undefined || line.isAsking) return;
    line.isAsking = true;
    this.#deps.limitOf(accountId).then((limit) => {
      line.isAsking = false;
      this.#admit(line, limit);
    }, this.#deps.onFatal);
  }

  /** In one turn: nobody takes a place between the look and the taking. */
  #admit(line: Line, limit: number): void {
    const { quota, admit } = this.#deps;
    // Closed, or emptied and made anew, while the limit was asked for.
    if (this.#lines.get(line.accountId) !== line) return;
    for (let job = line.jobs.first; job !== undefined; job = line.jobs.first) {
      // An Island turned out to have it already.
      if (job.hasPlace) {
        this.leave(job);
        continue;
      }
      if (quota.isFull(line.accountId, limit)) return;
      this.leave(job);
      quota.add(line.accountId);
      job.hasPlace = true;
      admit(job);
    }
  }

  #lookAgainLater(): void {
    if (this.#timer !== null || this.#lines.size === 0) return;
    this.#timer = this.#deps.clock.schedule(LOOK_AGAIN_MS, () => {
      this.#timer = null;
      for (const accountId of this.#lines.keys()) this.#advance(accountId);
      this.#lookAgainLater();
    });
  }
}
