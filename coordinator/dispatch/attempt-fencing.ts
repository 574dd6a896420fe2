import type { Clock } from "../../shared/clock.ts";
import type { JobError } from "../../shared/errors.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { HeldJob, IslandState, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { AttemptFrame, AttemptReports } from "../islands/attempt-reports.ts";
import type { IslandView } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { SchedulerEvent } from "../scheduler/scheduler.ts";
import type { AttemptProofs } from "./attempt-proofs.ts";
import { islandLost, presentJob } from "./present-job.ts";

export interface AttemptFencingDeps {
  readonly jobs: JobRegistry;
  readonly islands: IslandRegistry;
  readonly proofs: AttemptProofs;
  readonly clock: Pick<Clock, "now">;
  /** Tells the scheduler how a run went. */
  readonly measure: (run: Extract<SchedulerEvent, { kind: "measured" }>) => void;
}

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

  receive(islandId: string, frame: AttemptFrame): Promise<void> | undefined {
    const { jobs, islands } = this.#deps;
    switch (frame.type) {
      case "refused": {
        const job = presentJob(jobs, islandId, frame);
        islands.freeSlot(islandId, frame);
        if (job === undefined) return undefined;
        return jobs.attempts.requeue(job.id, { code: frame.code, message: frame.message, retryable: true });
      }
      case "accepted":
        if (presentJob(jobs, islandId, frame) !== undefined) jobs.attempts.accept(frame.jobId);
        return undefined;
      case "started":
        if (presentJob(jobs, islandId, frame)?.state === "queued") jobs.attempts.start(frame.jobId);
        return undefined;
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
  #receiveNumbered(islandId: string, frame: NumberedFrame): Promise<void> | undefined {
    const { attempts } = this.#deps.jobs;
    const { jobId, attempt, seq } = frame;
    const job = presentJob(this.#deps.jobs, islandId, frame);
    if (job === undefined) return this.#discard(islandId, frame);
    if (seq <= job.lastSeq) return seq <= job.durableSeq ? Promise.resolve() : undefined;
    if (seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${seq} after ${job.lastSeq}`);
    attempts.noteReceived(jobId, seq);
    const isRunning = frame.type === "output" || frame.type === "finished";
    if (isRunning && job.state === "queued") attempts.start(jobId);
    return this.#applyWhenAssigned(islandId, job, frame).then(() => attempts.noteDurable(jobId, attempt, seq));
  }

  /**
   * Acts only once the attempt is durable, which it nearly always is by then. Otherwise a crash could give its number to another
   * run, and readers would take the output of one for that of the other. README of `jobs/`, "Positions".
   */
  #applyWhenAssigned(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void> {
    if (job.assigned === null) return this.#apply(islandId, job, frame);
    return job.assigned.then(() =>
      presentJob(this.#deps.jobs, islandId, frame) === job
        ? this.#apply(islandId, job, frame)
        : this.#discard(islandId, frame),
    );
  }

  /** The attempt is superseded or its job has ended: the Island may forget the frame as soon as that is durable. */
  #discard(islandId: string, frame: NumberedFrame): Promise<void> {
    const { jobs, islands } = this.#deps;
    if (frame.type !== "output") islands.freeSlot(islandId, frame);
    return jobs.get(frame.jobId)?.settled ?? Promise.resolve();
  }

  #apply(islandId: string, { id: jobId, slug }: ActiveJob, frame: NumberedFrame): Promise<void> {
    const { islands, measure } = this.#deps;
    const { attempts } = this.#deps.jobs;
    switch (frame.type) {
      case "output":
        return attempts.addOutput(jobId, frame.seq, frame.items);
      case "finished": {
        const { output, usage, finishReason, timings } = frame;
        const ended = attempts.complete(jobId, { output, usage, finishReason, timings });
        const tokensPerSecond = timings.runMs > 0 ? (usage.completionTokens * 1_000) / timings.runMs : null;
        measure({ kind: "measured", islandId, slug, tokensPerSecond, succeeded: true });
        islands.freeSlot(islandId, frame);
        return ended;
      }
      case "failed": {
        const { code, message, retryable } = frame;
        // First the slot, so that another waiting job may take it: the failed one prefers another Island.
        islands.freeSlot(islandId, frame);
        measure({ kind: "measured", islandId, slug, tokensPerSecond: null, succeeded: false });
        const error: JobError = { code, message, retryable };
        return retryable ? attempts.requeue(jobId, error) : attempts.fail(jobId, error);
      }
      case "cancelled":
        // The job has not ended, so the coordinator did not ask for this: the Island's owner stopped the work.
        islands.freeSlot(islandId, frame);
        return attempts.requeue(jobId, islandLost("The Island gave the job up"));
      default:
        return frame satisfies never;
    }
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
