import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobError } from "../../shared/errors.ts";
import type { OutputItem } from "../../shared/output.ts";
import type { JobInput } from "../store/job-store.ts";
import type { ActiveJobs, ActiveJobsDeps } from "./active-jobs.ts";
import type { RunResult } from "./job-ending.ts";
import type { Assignee, MutableJob } from "./mutable-job.ts";
import { MIN_TIME_TO_FIND_ISLAND_MS, mayRetry } from "./retry-policy.ts";

export interface JobAttemptsDeps extends Pick<ActiveJobsDeps, "store" | "clock"> {
  /** Most attempts of one job. */
  readonly maxAttempts: number;
}

/**
 * Commands on the present attempt of a job. The caller has checked that they come from the Island that has it
 * (`dispatch/attempt-fencing.ts`). All act at once in memory; a promise resolves when what was done is durable.
 */
export class JobAttempts {
  readonly #active: ActiveJobs;
  readonly #deps: JobAttemptsDeps;

  constructor(active: ActiveJobs, deps: JobAttemptsDeps) {
    this.#active = active;
    this.#deps = deps;
  }

  /** Gives a pending job to an Island. Returns the number of the attempt. */
  assign(jobId: string, assignee: Assignee): number {
    const job = this.#active.require(jobId);
    this.#begin(job, job.attempt + 1, assignee);
    return job.attempt;
  }

  /** A pending job turns out to be in an Island's hands: its assignment was not durable when the coordinator last stopped. */
  takeOver(jobId: string, assignee: Assignee, attempt: number): void {
    const job = this.#active.require(jobId);
    this.#active.emit({ type: "job_withdrawn", job });
    if (!job.hasPlace) {
      // It had its place before the restart, and waits for another only because that was not known.
      this.#active.takePlace(job);
      this.#active.beginWait(job);
    }
    this.#begin(job, attempt, assignee);
    void this.readInput(jobId);
  }

  /** The Island that was lost with the last attempt of a pending job is back and goes on with it. */
  regain(jobId: string, assignee: Assignee): void {
    const job = this.#active.require(jobId);
    this.#active.emit({ type: "job_withdrawn", job });
    job.regain(assignee);
    this.#active.beginPhase(job);
    void this.#active.storeMove(job, "regain");
  }

  /** The input of a job, from storage. */
  async readInput(jobId: string): Promise<JobInput> {
    const job = this.#active.require(jobId);
    const input = await this.#active.persist(this.#deps.store.jobs.input(jobId));
    job.learnTraits(input, this.#active.cargoOf(job)?.isChat ?? false);
    return input;
  }

  /** The Island says that it has the attempt. Ignored after the first time. */
  accept(jobId: string): void {
    const job = this.#active.require(jobId);
    if (job.isAccepted) return;
    job.isAccepted = true;
    this.#active.beginPhase(job);
  }

  /** What the Island reports of the work, which is neither output nor stored. It is a sign of life if `count` is another one than before. */
  noteWork(jobId: string, count: number): void {
    const job = this.#active.require(jobId);
    if (count === job.workCount) return;
    job.workCount = count;
    this.#active.noteSign(job);
  }

  /** The Island has come back with the attempt, whose phase begins anew. */
  noteReturn(jobId: string): void {
    const job = this.#active.require(jobId);
    job.isAccepted = true;
    this.#active.beginPhase(job);
  }

  /** Gives the attempt up, as its present phase took longer than its limit, and stops the Island's work on it. */
  expirePhase(jobId: string): Promise<void> {
    const job = this.#active.require(jobId);
    if (job.phase === null) throw new Error(`Job ${jobId} is ${job.state}: no Island has it`);
    const message = describeExpiry(job.phase, this.#active.phaseLimitMs(job));
    this.#active.emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.requeue(jobId, { code: "island_silent", message, retryable: true });
  }

  /** The run began. */
  start(jobId: string): void {
    const job = this.#active.require(jobId);
    job.start(this.#deps.clock.now());
    this.#active.noteSign(job);
    this.#active.beginRun(job);
    void this.#active.storeMove(job, "start");
  }

  /** Numbered frame `seq` was received. It is not durable yet. */
  noteReceived(jobId: string, seq: number): void {
    this.#active.require(jobId).lastSeq = seq;
  }

  /** Everything up to numbered frame `seq` is durable. Ignored for a job that ended and for an earlier attempt. */
  noteDurable(jobId: string, attempt: number, seq: number): void {
    const job = this.#active.byId.get(jobId);
    if (job?.attempt === attempt) job.durableSeq = seq;
  }

  /** Adds the output of numbered frame `seq`. A job with more output than it can have asked for ends in `failed`. */
  addOutput(jobId: string, seq: number, items: readonly OutputItem[]): Promise<void> {
    const job = this.#active.require(jobId);
    if (!job.countOutput(items)) {
      const message = "The Island made more output than the job can have";
      const error: JobError = { code: "output_too_large", message, retryable: true };
      return this.#active.stop(job, "cancelled", { event: "fail", error });
    }
    if (!job.feed.hasOutput) job.announce("streaming");
    job.say(items);
    this.#noteOutput(job);
    const chunk = { jobId, attempt: job.attempt, seq, items: job.takeUnsaved() };
    return this.#active.persist(this.#deps.store.jobs.appendFeed(chunk));
  }

  complete(jobId: string, result: RunResult): Promise<void> {
    return this.#active.end(this.#active.require(jobId), { event: "complete", ...result });
  }

  /** The attempt failed, and another would fail too. */
  fail(jobId: string, error: JobError): Promise<void> {
    return this.#active.end(this.#active.require(jobId), { event: "fail", error });
  }

  /** The Cargo is gone, so that the attempt cannot be sent. */
  failWithoutCargo(jobId: string): Promise<void> {
    return this.#active.failWithoutCargo(this.#active.require(jobId));
  }

  /**
   * The attempt is over without a result. Another follows if the retry policy allows it, else the job fails with `error`.
   * @param mayReturn the Island is away, and may come back with the attempt.
   */
  requeue(jobId: string, error: JobError, mayReturn = false): Promise<void> {
    const job = this.#active.require(jobId);
    if (job.islandId !== null) job.avoidIslands.add(job.islandId);
    if (!mayRetry(job, this.#deps.maxAttempts)) {
      return this.#active.end(job, { event: "fail", error: { ...error, retryable: true } });
    }
    if (!this.#active.hasCargo(job)) return this.#active.failWithoutCargo(job);
    job.waitDeadlineMs = Math.max(job.waitDeadlineMs, this.#deps.clock.now() + MIN_TIME_TO_FIND_ISLAND_MS);
    const stored = this.#active.storeMove(job, "lose");
    job.lose(mayReturn);
    this.#active.awaitStart(job);
    this.#active.compete(job);
    return stored;
  }

  #noteOutput(job: MutableJob): void {
    if (job.hasSpoken) return this.#active.noteSign(job);
    job.hasSpoken = true;
    return this.#active.beginPhase(job);
  }

  #begin(job: MutableJob, attempt: number, assignee: Assignee): void {
    job.assign(attempt, assignee);
    this.#active.beginPhase(job);
    const assigned = this.#active.storeMove(job, "assign");
    job.assigned = assigned;
    void assigned.then(() => {
      if (job.assigned === assigned) job.assigned = null;
    });
  }
}

function describeExpiry(phase: AttemptPhase, limitMs: number): string {
  const limit = `${limitMs / 1_000} s`;
  switch (phase) {
    case "accept":
      return `The Island did not accept the job within ${limit}`;
    case "start":
      return `The Island accepted the job and did not begin it within ${limit}`;
    case "first_output":
      return `The Island began the job and gave no output within ${limit}`;
    case "silence":
      return `The Island fell silent: no output for ${limit}`;
    default:
      return phase satisfies never;
  }
}
