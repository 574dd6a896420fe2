import { ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { HeldJob, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { Env } from "../env.ts";
import type { AttemptReports } from "../islands/island-connections.ts";
import type { AttemptId, IslandView } from "../islands/island.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { AttemptProofs } from "./attempt-proofs.ts";
import { openAttemptResults } from "./attempt-results.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** Brings jobs here that another coordinator has. */
export interface HeldJobClaims {
  /** @param attempts Of Island `hostId`, which has proved that it was given them. Those of jobs that are here already are left alone. */
  claim(hostId: string, accountId: string, attempts: readonly AttemptId[]): Promise<void>;
}

/**
 * What Islands report on their attempts becomes commands on jobs. Fencing: only the present attempt of the Island that has the job
 * counts. What others report is acknowledged, so that they can forget it, and changes nothing but the slot.
 * @param claims where several coordinators share the jobs; null: all jobs are here.
 */
export function openAttemptFencing(
  { clock, log }: Pick<Env, "clock" | "log">,
  jobs: JobRegistry,
  islands: IslandRegistry,
  proofs: AttemptProofs,
  dispatcher: Dispatcher,
  claims: HeldJobClaims | null,
): AttemptReports {
  const results = openAttemptResults(log, jobs, islands, dispatcher);

  /** Resolves when the frame may be acknowledged. Undefined for a repeat whose first copy is not durable yet. */
  function receiveNumbered(islandId: string, frame: NumberedFrame): Promise<void | false> | undefined {
    const { jobId, seq } = frame;
    const job = jobs.present(islandId, frame);
    if (job === undefined) return discard(islandId, frame);
    if (seq <= job.lastSeq) return seq <= job.durableSeq ? Promise.resolve() : undefined;
    if (seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${seq} after ${job.lastSeq}`);
    jobs.noteReceived(jobId, seq);
    const isRunning = frame.type === "output" || frame.type === "finished";
    if (isRunning && job.state === "queued") jobs.start(jobId);
    return applyWhenAssigned(islandId, job, frame);
  }

  /**
   * Acts only once the attempt is durable, which it nearly always is by then. Otherwise a crash could give its number to another
   * run, and readers would take the output of one for that of the other. docs/internals/streams.md, "Positions".
   */
  function applyWhenAssigned(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    if (job.assigned !== null) return applyAfter(job.assigned, islandId, job, frame);
    const durable = apply(islandId, job, frame);
    // Output is noted when it is stored: frames that are stored together share one promise, and so one acknowledgement.
    if (frame.type === "output") return durable;
    return durable.then((heard) => {
      if (heard !== false) jobs.noteDurable(frame.jobId, frame.attempt, frame.seq);
      return heard;
    });
  }

  /** Acts later, if the attempt is still the present one then. */
  function applyAfter(
    earlier: Promise<void>,
    islandId: string,
    job: ActiveJob,
    frame: NumberedFrame,
  ): Promise<void | false> {
    return earlier.then(() => {
      if (jobs.present(islandId, frame) === job) return applyWhenAssigned(islandId, job, frame);
      jobs.noteUnheard(frame.jobId, frame.attempt, frame.seq);
      return discard(islandId, frame);
    });
  }

  /** The attempt is superseded or its job has ended: the Island may forget the frame as soon as that is durable. */
  function discard(islandId: string, frame: NumberedFrame): Promise<void | false> {
    if (frame.type !== "output") islands.freeSlot(islandId, frame);
    const job = jobs.get(frame.jobId);
    const isStored = job?.settled ?? job?.moved ?? Promise.resolve();
    // The Island may have regained the attempt meanwhile: then it sends the frame again, and that one counts.
    return isStored.then(() => (jobs.present(islandId, frame) === undefined ? undefined : false));
  }

  function apply(islandId: string, job: ActiveJob, frame: NumberedFrame): Promise<void | false> {
    switch (frame.type) {
      case "output":
        return results.addOutput(islandId, job, frame);
      case "finished":
        return job.feed.isLoaded
          ? results.finish(islandId, job, frame)
          : applyAfter(jobs.loadFeed(job.id), islandId, job, frame);
      case "failed":
        return results.fail(islandId, job, frame);
      case "cancelled":
        return results.giveUp(islandId, job, frame);
      default:
        return frame satisfies never;
    }
  }

  function decide({ hostId, accountId }: IslandView, { jobId, attempt, claim, started }: HeldJob): HeldDecision {
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
    if (jobs.present(hostId, { jobId, attempt }) === undefined) return drop;
    if (started && job.state === "queued") jobs.start(jobId);
    jobs.noteReturn(jobId);
    // The Island sends again what is received but not durable; `lastSeq` recognises the repeats.
    return { jobId, attempt, action: "continue", ackedSeq: job.durableSeq };
  }

  return {
    claim(hostId, accountId, held) {
      if (claims === null) return undefined;
      const elsewhere = held.filter(
        ({ jobId, attempt, claim }) => jobs.get(jobId) === undefined && proofs.isValid(claim, jobId, attempt, hostId),
      );
      return elsewhere.length === 0 ? undefined : claims.claim(hostId, accountId, elsewhere);
    },
    reconcile: (island, held) => held.map((job) => decide(island, job)),
    noteProgress(island, { working, downloads }) {
      if (working !== undefined) {
        for (const { jobId, attempt, count } of working) {
          if (jobs.present(island.hostId, { jobId, attempt }) !== undefined) jobs.noteWork(jobId, count);
        }
        return;
      }
      // An older agent tells only of downloads. One of unknown size may be going on.
      for (const attempt of island.attempts()) {
        const job = jobs.present(island.hostId, attempt);
        const download = downloads.find(({ slug }) => slug === job?.slug);
        if (job?.phase !== "start" || download === undefined) continue;
        jobs.noteWork(job.id, download.fraction ?? clock.now());
      }
    },
    receive(islandId, frame) {
      switch (frame.type) {
        case "refused":
          return results.refuse(islandId, jobs.present(islandId, frame), frame);
        case "accepted":
          if (jobs.present(islandId, frame) !== undefined) jobs.accept(frame.jobId);
          return undefined;
        case "started": {
          const job = jobs.present(islandId, frame);
          if (job?.state === "queued") jobs.start(frame.jobId);
          if (job !== undefined && frame.prompt !== undefined) jobs.notePrompt(frame.jobId, frame.prompt);
          return undefined;
        }
        case "output":
        case "finished":
        case "failed":
        case "cancelled":
          return receiveNumbered(islandId, frame);
        default:
          return frame satisfies never;
      }
    },
  };
}
