import type { Clock } from "../../shared/clock.ts";
import { MAY_QUOTE, type JobError, type JobErrorCode } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { HeldJob, IslandState, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { AttemptFrame, AttemptReports } from "../islands/attempt-reports.ts";
import type { IslandView } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import { isEmptyOutput } from "../jobs/job-ending.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { LetDown, SchedulerEvent } from "../scheduler/scheduler.ts";
import type { AttemptProofs } from "./attempt-proofs.ts";
import { errorOf } from "./island-errors.ts";
import { islandLost, presentJob } from "./present-job.ts";

export interface AttemptFencingDeps {
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly proofs: AttemptProofs;
  readonly clock: Pick<Clock, "now">;
  /** Tells the scheduler how a run went. */
  readonly measure: (run: Extract<SchedulerEvent, { kind: "measured" }>) => void;
  /** True if an Island that has not tried the job yet could run it. */
  readonly hasOtherIsland: (job: ActiveJob) => boolean;
  readonly log: Pick<Logger, "warn">;
  /** Tells the scheduler that an Island let a job down, before its slot is free and before the job competes again. */
  readonly letDown: (event: Extract<SchedulerEvent, { kind: "let_down" }>) => void;
}

type Failure = Omit<JobError, "message"> & { readonly message?: string };
/** Most characters of an Island's words in our log. */
const MAX_LOGGED_WORDS = 300;

/**
 * What Islands report on their attempts becomes commands on jobs. Fencing: only the present attempt of the Island that has the job
 * counts. What others report is acknowledged, so that they can forget it, and changes nothing but the slot.
 */
export class AttemptFencing implements AttemptReports {
  readonly #deps: AttemptFencingDeps;

  constructor(deps: AttemptFencingDeps) {
    this.#deps = deps;
  }

  reconcile(island: IslandView, held: readonly HeldJob[]): HeldDecision[] {
    return held.map((job) => this.#reconcile(island, job));
  }

  noteProgress(island: IslandView, { working, downloads }: IslandState): void {
    const { jobs } = this.#deps;
    if (working !== undefined) {
      for (const { jobId, attempt, count } of working) {
        if (presentJob(jobs, island.hostId, { jobId, attempt }) !== undefined) jobs.attempts.noteWork(jobId, count);
      }
      return;
    }
    // An older agent tells only of downloads. One of unknown size may be going on.
    for (const attempt of island.attempts()) {
      const job = presentJob(jobs, island.hostId, attempt);
      const download = downloads.find(({ slug }) => slug === job?.slug);
      if (job?.phase !== "start" || download === undefined) continue;
      jobs.attempts.noteWork(job.id, download.fraction ?? this.#deps.clock.now());
    }
  }

  receive(islandId: string, frame: AttemptFrame): Promise<void | false> | undefined {
    const { jobs, islands } = this.#deps;
    switch (frame.type) {
      case "refused": {
        const job = presentJob(jobs, islandId, frame);
        // Too late for a refusal: the Island had begun, so this is a try that failed.
        const cause = job?.state === "running" ? "failed" : "refused";
        if (job !== undefined) this.#noteLetDown(islandId, job, cause, frame.code);
        islands.freeSlot(islandId, frame);
        if (job === undefined) return undefined;
        this.#note(islandId, job, frame.code, frame.message);
        return jobs.attempts.requeue(job.id, this.#errorOf(islandId, job, { ...frame, retryable: true }), cause);
      }
      case "accepted":
        if (presentJob(jobs, islandId, frame) !== undefined) jobs.attempts.accept(frame.jobId);
        return undefined;
      case "started": {
        const job = presentJob(jobs, islandId, frame);
        if (job?.state === "queued") jobs.attempts.start(frame.jobId);
        if (job !== undefined && frame.prompt !== undefined) jobs.attempts.notePrompt(frame.jobId, frame.prompt);
        return undefined;
      }
      case "output":
      case "finished":
      case "failed":
      case "cancelled":
        return this.#receiveNumbered(islandId, frame);
      default:
        return frame satisfies never;
    }
  }

  /** Resolves when the frame may be acknowledged. Undefined for a repeat whose first copy is not durable yet. */
  #receiveNumbered(islandId: string, frame: NumberedFrame): Promise<void | false> | undefined {
    const { attempts } = this.#deps.jobs;
    const { jobId, seq } = frame;
    const job = presentJob(this.#deps.jobs, islandId, frame);
    if (job === undefined) return this.#discard(islandId, frame);
    if (seq <= job.lastSeq) return seq <= job.durableSeq ? Promise.resolve() : undefined;
    if (seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${seq} after ${job.lastSeq}`);
    attempts.noteReceived(jobId, seq);
    const isRunning = frame.type === "output" || frame.type === "finished";
    if (isRunning && job.state === "queued") attempts.start(jobId);
    return this.#applyWhenAssigned(islandId, job, frame);
  }

  /**
   * Acts only once the attempt is durable, which it nearly always is by then. Otherwise a crash could give its number to another
   * run, and readers would take the output of one for that of the other. README of `jobs/`, "Positions".
   */
  #applyWhenAssigned(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    const { attempts } = this.#deps.jobs;
    const { jobId, attempt, seq } = frame;
    const apply = (): Promise<void> =>
      this.#apply(islandId, job, frame).then(() => attempts.noteDurable(jobId, attempt, seq));
    if (job.assigned === null) return apply();
    return job.assigned.then(() => {
      if (presentJob(this.#deps.jobs, islandId, frame) === job) return apply();
      attempts.noteUnheard(jobId, attempt, seq);
      return this.#discard(islandId, frame);
    });
  }

  /** The attempt is superseded or its job has ended: the Island may forget the frame as soon as that is durable. */
  #discard(islandId: string, frame: NumberedFrame): Promise<void | false> {
    const { jobs, islands } = this.#deps;
    if (frame.type !== "output") islands.freeSlot(islandId, frame);
    const job = jobs.get(frame.jobId);
    const isStored = job?.settled ?? job?.moved ?? Promise.resolve();
    // The Island may have regained the attempt meanwhile: then it sends the frame again, and that one counts.
    return isStored.then(() => (presentJob(jobs, islandId, frame) === undefined ? undefined : false));
  }

  #apply(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void> {
    const { islands } = this.#deps;
    const { attempts } = this.#deps.jobs;
    const { id: jobId } = job;
    switch (frame.type) {
      case "output":
        return this.#addOutput(islandId, job, frame);
      case "finished":
        return this.#finish(islandId, job, frame);
      case "failed": {
        const error = this.#failed(islandId, job, frame);
        if (error.retryable) return attempts.requeue(jobId, error, "failed");
        return this.#isFinal(islandId, job) ? attempts.fail(jobId, error) : attempts.confirm(jobId, error);
      }
      case "cancelled":
        // The job has not ended, so the coordinator did not ask for this: the Island's owner stopped the work.
        this.#noteLetDown(islandId, job, "lost", "island_lost");
        islands.freeSlot(islandId, frame);
        return attempts.requeue(jobId, islandLost("The Island gave the job up"), "lost");
      default:
        return frame satisfies never;
    }
  }

  #addOutput(islandId: string, job: ActiveJob, frame: Extract<NumberedFrame, { type: "output" }>): Promise<void> {
    const stored = this.#deps.jobs.attempts.addOutput(job.id, frame.seq, frame.items);
    // It was more than the job can have.
    if (job.hasEnded)
      this.#deps.measure({ kind: "measured", islandId, slug: job.slug, tokensPerSecond: null, succeeded: false });
    return stored;
  }

  /** A result that gives nothing, or another one than was delivered, is a failure of the Island. */
  #finish(islandId: string, job: ActiveJob, frame: Extract<NumberedFrame, { type: "finished" }>): Promise<void> {
    const { islands, measure, jobs } = this.#deps;
    const { output, usage, finishReason, timings } = frame;
    // The output of a chat is what was streamed.
    const isText = jobs.cargoOf(job)?.isChat === true;
    const result = { output: isText ? undefined : output, usage, finishReason, timings };
    const differs = isText && output !== undefined && !(job.feed.isLoaded && output === job.feed.text());
    const isEmpty = !job.feed.hasOutput && (isText || isEmptyOutput(output));
    if (differs || isEmpty) {
      const error = this.#failed(islandId, job, { ...frame, code: "invalid_output", retryable: true });
      if (differs) return jobs.attempts.requeue(job.id, error, "failed");
      if (!this.#isFinal(islandId, job)) return jobs.attempts.confirm(job.id, error);
      // Nobody has more to say: the client gets the empty answer, free.
      return jobs.attempts.complete(job.id, result);
    }
    const tokensPerSecond = job.meter?.tokensPerSecond ?? null;
    const ended = jobs.attempts.complete(job.id, result);
    measure({ kind: "measured", islandId, slug: job.slug, tokensPerSecond, succeeded: true });
    islands.freeSlot(islandId, frame);
    return ended;
  }

  /** Counts a failed attempt and frees its slot. Returns the error that the job has if this is its end. */
  #failed(islandId: string, job: ActiveJob, failure: Failure & Pick<NumberedFrame, "jobId" | "attempt">): JobError {
    this.#deps.measure({ kind: "measured", islandId, slug: job.slug, tokensPerSecond: null, succeeded: false });
    if (failure.retryable) this.#noteLetDown(islandId, job, "failed", failure.code);
    // First the slot, so that another waiting job may take it: the failed one waits for another Island.
    this.#deps.islands.freeSlot(islandId, failure);
    this.#note(islandId, job, failure.code, failure.message);
    return this.#errorOf(islandId, job, failure);
  }

  #errorOf(islandId: string, job: ActiveJob, failure: Failure): JobError {
    return errorOf(failure, job, this.#deps.islands.get(islandId));
  }

  #note(islandId: string, job: ActiveJob, code: JobErrorCode, words: string | undefined): void {
    const facts = { job_id: job.id, attempt: job.attempt, island_id: islandId, slug: job.slug, code };
    const said = words === undefined || MAY_QUOTE.has(code) ? {} : { island_says: words.slice(0, MAX_LOGGED_WORDS) };
    this.#deps.log.warn({ ...facts, ...said }, "An Island failed a job");
  }

  /** Whether an Island is believed that says no Island can do the job: another one said so too, or there is none to ask. */
  #isFinal(islandId: string, job: ActiveJob): boolean {
    if (job.final !== null && job.final.islandId !== islandId) return true;
    return !this.#deps.jobs.attempts.mayRetry(job.id) || !this.#deps.hasOtherIsland(job);
  }

  #noteLetDown(islandId: string, { slug, accountId }: ActiveJob, cause: LetDown, code: JobErrorCode): void {
    this.#deps.letDown({ kind: "let_down", islandId, slug, accountId, cause, code });
  }

  #reconcile(island: IslandView, { jobId, attempt, claim, started }: HeldJob): HeldDecision {
    const { jobs, proofs } = this.#deps;
    const { hostId, accountId } = island;
    const drop: HeldDecision = { jobId, attempt, action: "drop" };
    const job = jobs.get(jobId);
    if (job === undefined || job.hasEnded || !proofs.isValid(claim, jobId, attempt, hostId)) return drop;
    // It was assigned just before the coordinator stopped, and that was not durable yet.
    if (job.state === "pending" && attempt > job.attempt) {
      jobs.attempts.takeOver(jobId, { islandId: hostId, accountId }, attempt);
    }
    // It was lost for longer than the grace, but nothing has happened since.
    if (job.mayRegain && attempt === job.attempt) jobs.attempts.regain(jobId, { islandId: hostId, accountId });
    if (presentJob(jobs, hostId, { jobId, attempt }) === undefined) return drop;
    if (started && job.state === "queued") jobs.attempts.start(jobId);
    jobs.attempts.noteReturn(jobId);
    // The Island sends again what is received but not durable; `lastSeq` recognises the repeats.
    return { jobId, attempt, action: "continue", ackedSeq: job.durableSeq };
  }
}
