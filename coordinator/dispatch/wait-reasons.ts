import type { IslandRegistry } from "../islands/island-registry.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { BatchGate } from "../jobs/batch-gate.ts";
import type { JobWaiting } from "../jobs/job-waiting.ts";
import { describeDownloads } from "../scheduler/explain.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

export interface WaitReasonsDeps {
  readonly scheduler: Pick<Scheduler, "explain">;
  readonly islands: Pick<IslandRegistry, "get">;
  readonly gate: Pick<BatchGate, "positionOf">;
}

/** Why a job has not begun. Source: DESIGN §4, row "Detail of a job". */
export class WaitReasons {
  readonly #deps: WaitReasonsDeps;

  constructor(deps: WaitReasonsDeps) {
    this.#deps = deps;
  }

  /** Null once the job runs or has ended. */
  of(job: ActiveJob): JobWaiting | null {
    const { scheduler, islands, gate } = this.#deps;
    const position = gate.positionOf(job);
    if (position !== null) return { reason: "account_limit", position, message: describeAccountLimit(position) };
    if (job.state === "pending") return scheduler.explain(job.id);
    if (job.state !== "queued" || job.islandId === null) return null;
    const download = islands.get(job.islandId)?.downloads.find(({ slug }) => slug === job.slug);
    if (download !== undefined) {
      return { reason: "model_downloading", position: 1, message: describeDownloads([download.fraction]) };
    }
    return { reason: "starting", position: 1, message: "an Island has the job and is about to begin" };
  }
}

/** The position counts jobs of batches only: the account's other jobs do not wait for a place. */
function describeAccountLimit(position: number): string {
  const limit = "the account has as many unfinished jobs as it may have";
  if (position === 1) return `${limit}; this one is next`;
  return `${limit}; ${position - 1} of its batch jobs ${position === 2 ? "goes" : "go"} before this one`;
}
