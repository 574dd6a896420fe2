import type { JobError } from "../../../shared/errors.ts";
import type { OutputItem, PromptTokens } from "../../../shared/output.ts";
import type { LetDown } from "../../scheduler/scheduler.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { describeExpiry, tooLarge } from "./attempt-errors.ts";
import { AttemptMeter } from "./attempt-meter.ts";
import type { Assignee } from "../active-job.ts";
import type { ActiveJobs, ActiveJobsDeps } from "../active-jobs.ts";
import type { OutputOwner } from "../../quotas/output-budget.ts";
import type { RunResult } from "../job-ending.ts";
import type { MutableJob } from "../mutable-job.ts";
import { sizeOf, type OutputSize } from "../output-size.ts";
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
  /** Model tokens relayed since the start, also those of jobs that have not ended. */
  relayedTokens = 0;

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
    this.#active.emit({ type: "job_moved", job });
    void this.#active.writes.move(job, "regain");
  }

  /** The input of a job, from storage. */
  async readInput(jobId: string): Promise<JobInput> {
    const job = this.#active.require(jobId);
    await job.stored;
    const input = await this.#active.writes.read(job, this.#deps.store.jobs.input(jobId));
    this.#active.learnTraits(job, input);
    return input;
  }

  /** What an Island needs to run a job: its input, from storage. Afterwards the text can be read that another attempt continues. */
  async readForRun(jobId: string): Promise<JobInput> {
    const job = this.#active.require(jobId);
    const [input] = await Promise.all([this.readInput(jobId), this.#active.writes.persist(job.feed.load())]);
    return input;
  }

  /** Afterwards the job's text can be read, also of one that was restored after a restart. */
  loadFeed(jobId: string): Promise<void> {
    return this.#active.writes.persist(this.#active.require(jobId).feed.load());
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
    return this.requeue(jobId, { code: "island_silent", message, retryable: true }, "failed");
  }

  /**
   * The run took longer than its limit: the job ends in `timeout`. If the client has nothing of it yet, one other Island is asked first,
   * as the Island may have done nothing either.
   */
  expireRun(jobId: string, hasOtherIsland: boolean): Promise<void> {
    const job = this.#active.require(jobId);
    const message = `The run took longer than its limit of ${this.#active.runLimitMs(job) / 1_000} s`;
    const error: JobError = { code: "run_timeout", message, retryable: false };
    const mayConfirm = hasOtherIsland && job.final === null && !job.feed.hasOutput && this.mayRetry(jobId);
    if (!mayConfirm) return this.#active.stop(job, "timeout", { event: "expire", error });
    this.#active.emit({ type: "attempt_stopped", job, reason: "timeout" });
    return this.confirm(jobId, error);
  }

  /** The run began. */
  start(jobId: string): void {
    const job = this.#active.require(jobId);
    job.start(this.#deps.clock.now());
    this.#active.noteSign(job);
    this.#active.beginRun(job);
    this.#active.writes.startSoon(job);
    this.#active.emit({ type: "job_moved", job });
  }

  /** The Island says how much of the prompt it has read. */
  notePrompt(jobId: string, prompt: PromptTokens): void {
    const job = this.#active.require(jobId);
    if (job.notePrompt(prompt)) this.#active.noteSign(job);
  }

  /** Numbered frame `seq` was received. It is not durable yet. */
  noteReceived(jobId: string, seq: number): void {
    this.#active.require(jobId).lastSeq = seq;
  }

  /** Numbered frame `seq` was received and nobody acted on it. An Island that regains the attempt sends it again, and then it counts. */
  noteUnheard(jobId: string, attempt: number, seq: number): void {
    const job = this.#active.byId.get(jobId);
    if (job?.attempt === attempt) job.lastSeq = Math.min(job.lastSeq, seq - 1);
  }

  /** The last frame of an attempt, numbered `seq`, is durable. Ignored for a job that ended and for an earlier attempt. */
  noteDurable(jobId: string, attempt: number, seq: number): void {
    const job = this.#active.byId.get(jobId);
    if (job?.attempt === attempt) job.durableSeq = seq;
  }

  /** Adds the output of numbered frame `seq`. A job with more output than it can have asked for ends in `failed`. */
  addOutput(jobId: string, seq: number, claimed: readonly OutputItem[]): Promise<void> {
    const job = this.#active.require(jobId);
    const items = job.delivered.take(claimed);
    const size = sizeOf(items);
    const full = this.#active.takeOutput(job, size);
    if (full !== null) return this.#failTooLarge(job, full);
    if (!job.feed.hasItems) job.announce("streaming");
    const { tokens: before, hasOutput: isMore } = job.feed;
    const stored = this.#give(job, seq, items, size);
    const nowMs = this.#deps.clock.monotonicMs();
    const tokens = job.feed.tokens - before;
    this.relayedTokens += tokens;
    job.meter?.deliver(nowMs, tokens);
    if (job.feed.hasOutput) {
      job.earner = job.assignee;
      if (!isMore) this.#active.emit({ type: "first_output", job });
    }
    this.#noteOutput(job, nowMs);
    return stored;
  }

  /** The run succeeded. A job whose result is larger than its output may be ends in `failed`. */
  complete(jobId: string, { usage, timings, ...result }: RunResult): Promise<void> {
    const job = this.#active.require(jobId);
    const bytes = result.output === undefined ? 0 : JSON.stringify(result.output).length;
    const full = this.#active.takeOutput(job, { tokens: 0, bytes, memoryBytes: 0 });
    job.isOverrun = full === "job";
    if (full !== null) {
      return this.#active.end(job, { event: "fail", error: tooLarge(job, full), hasNoRoom: full !== "job" });
    }
    return this.#active.end(job, {
      event: "complete",
      ...result,
      usage: job.delivered.bound(usage, job.feed.tokens, job.traits),
      timings: job.meter?.bounded(timings, this.#deps.clock.monotonicMs()) ?? timings,
    });
  }

  /** The attempt failed, and another would fail too. */
  fail(jobId: string, error: JobError): Promise<void> {
    return this.#active.end(this.#active.require(jobId), { event: "fail", error });
  }

  /** The Cargo is gone, so that the attempt cannot be sent. */
  failWithoutCargo(jobId: string): Promise<void> {
    return this.#active.failWithoutCargo(this.#active.require(jobId));
  }

  /** False when the present attempt is the last one: no other may begin, or continue what was delivered. */
  mayRetry(jobId: string): boolean {
    const job = this.#active.require(jobId);
    return mayRetry(job, this.#deps.maxAttempts) && this.#active.hasCargo(job);
  }

  /** The present Island says that no Island can do the job: another one is asked. */
  confirm(jobId: string, error: JobError): Promise<void> {
    const job = this.#active.require(jobId);
    if (job.islandId !== null) job.final ??= { islandId: job.islandId, error };
    return this.requeue(jobId, error, "failed");
  }

  /**
   * The attempt is over without a result. A refused one is no try: the job waits on, within the wait limit that it has. After another,
   * a new attempt follows if the retry policy allows it, else the job fails with `error`.
   * @param mayReturn the Island is away, and may come back with the attempt.
   */
  requeue(jobId: string, error: JobError, cause: LetDown, mayReturn = false): Promise<void> {
    const job = this.#active.require(jobId);
    if (cause === "refused") {
      job.refusals += 1;
    } else {
      job.avoidAssignee();
      if (!mayRetry(job, this.#deps.maxAttempts)) {
        // The client may try again.
        return this.#active.end(job, { event: "fail", error: { ...error, retryable: true } });
      }
    }
    if (!this.#active.hasCargo(job)) return this.#active.failWithoutCargo(job);
    if (cause !== "refused") {
      job.waitDeadlineMs = Math.max(job.waitDeadlineMs, this.#deps.clock.now() + MIN_TIME_TO_FIND_ISLAND_MS);
    }
    this.#active.writes.gathered(job);
    const stored = this.#active.writes.move(job, "lose");
    if (cause === "refused") this.#active.emit({ type: "attempt_refused", job, error });
    else this.#active.emit({ type: "attempt_failed", job, cause, error });
    this.#active.leaveIsland(job);
    job.lose(mayReturn);
    this.#active.emit({ type: "job_moved", job });
    this.#active.awaitStart(job);
    this.#active.compete(job);
    return stored;
  }

  /** Gives output to readers and to storage. */
  #give(job: MutableJob, seq: number, items: readonly OutputItem[], { bytes, memoryBytes }: OutputSize): Promise<void> {
    const { writes } = this.#active;
    if (bytes > memoryBytes) return writes.largeOutput(job, seq, items, bytes);
    job.say(items);
    return writes.outputSoon(job, seq, items, bytes);
  }

  #failTooLarge(job: MutableJob, full: OutputOwner | "job" | "day"): Promise<void> {
    job.isOverrun = full === "job";
    const error = tooLarge(job, full);
    return this.#active.stop(job, "cancelled", { event: "fail", error, hasNoRoom: full !== "job" });
  }

  #noteOutput(job: MutableJob, nowMs: number): void {
    if (job.hasSpoken) return this.#active.noteSign(job, nowMs);
    job.hasSpoken = true;
    return this.#active.beginPhase(job);
  }

  #begin(job: MutableJob, attempt: number, assignee: Assignee): void {
    job.assign(attempt, assignee, new AttemptMeter(this.#deps.clock.monotonicMs()));
    this.#active.beginPhase(job);
    this.#active.emit({ type: "attempt_begun", job });
    // It is stored with the job.
    if (job.isOffered) return;
    this.#active.emit({ type: "job_moved", job });
    const assigned = this.#active.writes.move(job, "assign");
    job.assigned = assigned;
    void assigned.then(() => {
      if (job.assigned === assigned) job.assigned = null;
    });
  }
}
