import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { BatchGate } from "../jobs/batches/batch-gate.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { type Elsewhere, explainDownloads, explainElsewhere } from "../scheduler/explain.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { WorkKind } from "../scheduler/events.ts";

/** Minimum silence of an Island that is explained. Shorter silences are normal. */
const MIN_SILENCE_MS = 10_000;

/**
 * Returns a function that explains why a job has no output; null for a job that has ended, or that runs and is active.
 * @param elsewhere Returns the reports of other coordinators about a kind of work; null without other coordinators.
 */
export function openWaitReasons(
  clock: Clock,
  scheduler: Scheduler,
  islands: IslandRegistry,
  gate: BatchGate,
  elsewhere: (kind: WorkKind) => Elsewhere | null,
): (job: ActiveJob) => JobWaiting | null {
  function explainPending(jobId: string): JobWaiting | null {
    const waiting = scheduler.explain(jobId);
    const kind = scheduler.shared.kindOf(jobId);
    const others = kind === undefined ? null : elsewhere(kind);
    return waiting === null || others === null ? waiting : explainElsewhere(waiting, others);
  }

  function explainStart(islandId: string, slug: string): JobWaiting {
    const download = islands.get(islandId)?.downloads.find((each) => each.slug === slug);
    if (download === undefined) return starting("start", "an Island has accepted the job and is about to start it");
    return { ...explainDownloads([download.fraction]), position: 1, phase: "start" };
  }

  function explainSilence({ lastActivityMs }: ActiveJob, phase: AttemptPhase, what: string): JobWaiting | null {
    const silentMs = clock.monotonicMs() - lastActivityMs;
    if (silentMs < MIN_SILENCE_MS) return null;
    const message = `the Island that runs the job ${what}; no activity for ${Math.floor(silentMs / 1_000)} s`;
    return { reason: "no_output", position: 1, message, phase };
  }

  return (job) => {
    const position = gate.positionOf(job);
    if (position !== null) return { reason: "account_limit", position, message: describeAccountLimit(position) };
    if (job.state === "pending") return explainPending(job.id);
    if (job.islandId === null) return null;
    switch (job.phase) {
      case "accept":
        return starting("accept", "an Island was offered the job and has not accepted it yet");
      case "start":
        return explainStart(job.islandId, job.slug);
      case "first_output":
        return explainSilence(job, "first_output", "has produced no output yet");
      case "silence":
        return explainSilence(job, "silence", "has stopped producing output");
      case null:
        return null;
      default:
        return job.phase satisfies never;
    }
  };
}

function starting(phase: AttemptPhase, message: string): JobWaiting {
  return { reason: "starting", position: 1, message, phase };
}

/** Describes the wait for a quota slot. Counts only earlier batch jobs: other jobs do not wait for a slot. */
function describeAccountLimit(position: number): string {
  const limit = "the account is at its limit of unfinished jobs";
  if (position === 1) return `${limit}; this job is next`;
  return `${limit}; ${position - 1} of its batch jobs ${position === 2 ? "starts" : "start"} before this job`;
}
