import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { Clock } from "../../shared/clock.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { BatchGate } from "../jobs/batches/batch-gate.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { explainElsewhere, type Elsewhere } from "../scheduler/explain-elsewhere.ts";
import { explainDownloads } from "../scheduler/explain.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { WorkKind } from "../scheduler/shared-work.ts";

export interface WaitReasonsDeps {
  readonly scheduler: Pick<Scheduler, "explain" | "shared">;
  readonly islands: Pick<IslandRegistry, "get">;
  readonly gate: Pick<BatchGate, "positionOf">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** What other coordinators have for a kind of work; null without any. */
  readonly elsewhere: (kind: WorkKind) => Elsewhere | null;
}

/** A shorter silence is nothing unusual. */
const MIN_SILENCE_MS = 10_000;

/** Why a job has no output. Source: DESIGN §4, row "Detail of a job". */
export class WaitReasons {
  readonly #deps: WaitReasonsDeps;

  constructor(deps: WaitReasonsDeps) {
    this.#deps = deps;
  }

  /** Null for a job that runs, unless it is silent, and for one that has ended. */
  of(job: ActiveJob): JobWaiting | null {
    const { gate } = this.#deps;
    const position = gate.positionOf(job);
    if (position !== null) return { reason: "account_limit", position, message: describeAccountLimit(position) };
    if (job.state === "pending") return this.#explainPending(job.id);
    if (job.islandId === null) return null;
    switch (job.phase) {
      case "accept":
        return starting("accept", "an Island was asked to run the job and has not answered yet");
      case "start":
        return this.#explainStart(job);
      case "first_output":
        return this.#explainSilence(job, "first_output", "has given no output yet");
      case "silence":
        return this.#explainSilence(job, "silence", "has fallen silent");
      case null:
        return null;
      default:
        return job.phase satisfies never;
    }
  }

  #explainPending(jobId: string): JobWaiting | null {
    const { scheduler, elsewhere } = this.#deps;
    const waiting = scheduler.explain(jobId);
    const kind = scheduler.shared.kindOf(jobId);
    const others = kind === undefined ? null : elsewhere(kind);
    return waiting === null || others === null ? waiting : explainElsewhere(waiting, others);
  }

  #explainStart({ islandId, slug }: ActiveJob): JobWaiting {
    const { islands } = this.#deps;
    const downloads = islandId === null ? undefined : islands.get(islandId)?.downloads;
    const download = downloads?.find((each) => each.slug === slug);
    if (download === undefined) return starting("start", "an Island has the job and is about to begin");
    return { ...explainDownloads([download.fraction]), position: 1, phase: "start" };
  }

  #explainSilence({ lastSignMs }: ActiveJob, phase: AttemptPhase, what: string): JobWaiting | null {
    const silentMs = this.#deps.clock.monotonicMs() - lastSignMs;
    if (silentMs < MIN_SILENCE_MS) return null;
    const message = `the Island that runs the job ${what}; no sign of it for ${Math.floor(silentMs / 1_000)} s`;
    return { reason: "no_output", position: 1, message, phase };
  }
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
