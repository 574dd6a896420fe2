import type { Clock } from "../../shared/clock.ts";
import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { HeldJob, IslandState, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { AttemptFrame, AttemptReports } from "../islands/island-connections.ts";
import type { AttemptId, IslandView } from "../islands/island.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { AttemptProofs } from "./attempt-proofs.ts";
import { AttemptResults, type AttemptResultsDeps } from "./attempt-results.ts";
import { presentJob } from "./present-job.ts";

export interface AttemptFencingDeps extends AttemptResultsDeps {
  readonly proofs: AttemptProofs;
  readonly clock: Pick<Clock, "now">;
  /** Where several coordinators share the jobs; absent: all jobs are here. */
  readonly claims?: HeldJobClaims | undefined;
}

/** Brings jobs here that another coordinator has. */
export interface HeldJobClaims {
  /** @param attempts Of Island `hostId`, which has proved that it was given them. Those of jobs that are here already are left alone. */
  claim(hostId: string, accountId: string, attempts: readonly AttemptId[]): Promise<void>;
}

/**
 * What Islands report on their attempts becomes commands on jobs. Fencing: only the present attempt of the Island that has the job
 * counts. What others report is acknowledged, so that they can forget it, and changes nothing but the slot.
 */
export class AttemptFencing implements AttemptReports {
  readonly #deps: AttemptFencingDeps;
  readonly #results: AttemptResults;

  constructor(deps: AttemptFencingDeps) {
    this.#deps = deps;
    this.#results = new AttemptResults(deps);
  }

  claim(hostId: string, accountId: string, held: readonly HeldJob[]): Promise<void> | undefined {
    const { jobs, proofs, claims } = this.#deps;
    if (claims === undefined) return undefined;
    const elsewhere = held.filter(
      ({ jobId, attempt, claim }) => jobs.get(jobId) === undefined && proofs.isValid(claim, jobId, attempt, hostId),
    );
    return elsewhere.length === 0 ? undefined : claims.claim(hostId, accountId, elsewhere);
  }

  reconcile(island: IslandView, held: readonly HeldJob[]): HeldDecision[] {
    return held.map((job) => this.#reconcile(island, job));
  }

  noteProgress(island: IslandView, { working, downloads }: IslandState): void {
    const { jobs } = this.#deps;
    if (working !== undefined) {
      for (const { jobId, attempt, count } of working) {
        if (presentJob(jobs, island.hostId, { jobId, attempt }) !== undefined) jobs.noteWork(jobId, count);
      }
      return;
    }
    // An older agent tells only of downloads. One of unknown size may be going on.
    for (const attempt of island.attempts()) {
      const job = presentJob(jobs, island.hostId, attempt);
      const download = downloads.find(({ slug }) => slug === job?.slug);
      if (job?.phase !== "start" || download === undefined) continue;
      jobs.noteWork(job.id, download.fraction ?? this.#deps.clock.now());
    }
  }

  receive(islandId: string, frame: AttemptFrame): Promise<void | false> | undefined {
    const { jobs } = this.#deps;
    switch (frame.type) {
      case "refused":
        return this.#results.refuse(islandId, presentJob(jobs, islandId, frame), frame);
      case "accepted":
        if (presentJob(jobs, islandId, frame) !== undefined) jobs.accept(frame.jobId);
        return undefined;
      case "started": {
        const job = presentJob(jobs, islandId, frame);
        if (job?.state === "queued") jobs.start(frame.jobId);
        if (job !== undefined && frame.prompt !== undefined) jobs.notePrompt(frame.jobId, frame.prompt);
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
    const { jobs } = this.#deps;
    const { jobId, seq } = frame;
    const job = presentJob(jobs, islandId, frame);
    if (job === undefined) return this.#discard(islandId, frame);
    if (seq <= job.lastSeq) return seq <= job.durableSeq ? Promise.resolve() : undefined;
    if (seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${seq} after ${job.lastSeq}`);
    jobs.noteReceived(jobId, seq);
    const isRunning = frame.type === "output" || frame.type === "finished";
    if (isRunning && job.state === "queued") jobs.start(jobId);
    return this.#applyWhenAssigned(islandId, job, frame);
  }

  /**
   * Acts only once the attempt is durable, which it nearly always is by then. Otherwise a crash could give its number to another
   * run, and readers would take the output of one for that of the other. README of `jobs/`, "Positions".
   */
  #applyWhenAssigned(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    if (job.assigned !== null) return this.#applyAfter(job.assigned, islandId, job, frame);
    const durable = this.#apply(islandId, job, frame);
    // Output is noted when it is stored: frames that are stored together share one promise, and so one acknowledgement.
    if (frame.type === "output") return durable;
    return durable.then((heard) => {
      if (heard !== false) this.#deps.jobs.noteDurable(frame.jobId, frame.attempt, frame.seq);
      return heard;
    });
  }

  /** Acts later, if the attempt is still the present one then. */
  #applyAfter(earlier: Promise<void>, islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    const { jobs } = this.#deps;
    return earlier.then(() => {
      if (presentJob(jobs, islandId, frame) === job) return this.#applyWhenAssigned(islandId, job, frame);
      jobs.noteUnheard(frame.jobId, frame.attempt, frame.seq);
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

  #apply(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    const results = this.#results;
    switch (frame.type) {
      case "output":
        return results.addOutput(islandId, job, frame);
      case "finished":
        return job.feed.isLoaded
          ? results.finish(islandId, job, frame)
          : this.#applyAfter(this.#deps.jobs.loadFeed(job.id), islandId, job, frame);
      case "failed":
        return results.fail(islandId, job, frame);
      case "cancelled":
        return results.giveUp(islandId, job, frame);
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
      jobs.takeOver(jobId, { islandId: hostId, accountId }, attempt);
    }
    // It was lost for longer than the grace, but nothing has happened since. Another Island may have a proof of the same attempt, which was
    // never durable.
    const isWhoLostIt = (job.lostIslandId ?? hostId) === hostId;
    if (job.mayRegain && isWhoLostIt && attempt === job.attempt) jobs.regain(jobId, { islandId: hostId, accountId });
    if (presentJob(jobs, hostId, { jobId, attempt }) === undefined) return drop;
    if (started && job.state === "queued") jobs.start(jobId);
    jobs.noteReturn(jobId);
    // The Island sends again what is received but not durable; `lastSeq` recognises the repeats.
    return { jobId, attempt, action: "continue", ackedSeq: job.durableSeq };
  }
}
