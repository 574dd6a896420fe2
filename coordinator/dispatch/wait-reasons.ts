import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { BatchGate } from "../jobs/batches/batch-gate.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { type Elsewhere, explainDownloads, explainElsewhere } from "../scheduler/explain.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { WorkKind } from "../scheduler/shared-work.ts";

/** A shorter silence is nothing unusual. */
const MIN_SILENCE_MS = 10_000;

/**
 * The returned function says why a job has no output; null for a job that runs, unless it is silent, and for one that has ended.
 * @param elsewhere what other coordinators have for a kind of work; null without any.
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
    if (download === undefined) return starting("start", "an Island has the job and is about to begin");
    return { ...explainDownloads([download.fraction]), position: 1, phase: "start" };
  }

  function explainSilence({ lastSignMs }: ActiveJob, phase: AttemptPhase, what: string): JobWaiting | null {
    const silentMs = clock.monotonicMs() - lastSignMs;
    if (silentMs < MIN_SILENCE_MS) return null;
    const message = `the Island that runs the job ${what}; no sign of it for ${Math.floor(silentMs / 1_000)} s`;
    return { reason: "no_output", position: 1, message, phase };
  }

  return (job) => {
    const position = gate.positionOf(job);
    if (position !== null) return { reason: "account_limit", position, message: describeAccountLimit(position) };
    if (job.state === "pending") return explainPending(job.id);
    if (job.islandId === null) return null;
    switch (job.phase) {
      case "accept":
        return starting("accept", "an Island was asked to run the job and has not answered yet");
      case "start":
        return explainStart(job.islandId, job.slug);
      case "first_output":
        return explainSilence(job, "first_output", "has given no output yet");
      case "silence":
        return explainSilence(job, "silence", "has fallen silent");
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

/** The position counts jobs of batches only: the account's other jobs do not wait for a place. */
function describeAccountLimit(position: number): string {
  const limit = "the account has as many unfinished jobs as it may have";
  if (position === 1) return `${limit}; this one is next`;
  return `${limit}; ${position - 1} of its batch jobs ${position === 2 ? "goes" : "go"} before this one`;
}
