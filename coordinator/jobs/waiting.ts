import { describeDownloads, WAIT_CAUSES } from "../scheduler/explain.ts";
import type { Scheduler, Waiting } from "../scheduler/scheduler.ts";
import type { BatchGate } from "./batch-gate.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { LiveJob } from "./live-job.ts";

/** Why a job has not begun: for want of an Island, of room under its account's limit, or because its Island is not ready yet. */
export const WAITING_REASONS = [...WAIT_CAUSES, "starting", "account_limit"] as const;
export type JobWaiting = Omit<Waiting, "reason"> & { readonly reason: (typeof WAITING_REASONS)[number] };

/** Answers why a job has not begun. Source: DESIGN §4, row "Detail of a job". */
export class WaitingReport {
  readonly #scheduler: Scheduler;
  readonly #dispatcher: Dispatcher;
  readonly #gate: BatchGate;

  constructor(scheduler: Scheduler, dispatcher: Dispatcher, gate: BatchGate) {
    this.#gate = gate;
    this.#scheduler = scheduler;
    this.#dispatcher = dispatcher;
  }

  /** Null once the job runs or has ended. */
  of(job: LiveJob): JobWaiting | null {
    const position = this.#gate.positionOf(job);
    if (position !== null) return { reason: "account_limit", position, message: describeAccountLimit(position) };
    if (job.state === "pending") return this.#scheduler.explain(job.id);
    if (job.state !== "queued" || job.islandId === null) return null;
    const island = this.#dispatcher.islands.get(job.islandId);
    const download = island?.state?.downloads.find(({ slug }) => slug === job.slug);
    if (download !== undefined) {
      return { reason: "model_downloading", position: 1, message: describeDownloads([download.fraction]) };
    }
    return { reason: "starting", position: 1, message: "an Island has the job and is about to begin" };
  }
}

/** The position counts jobs of batches only: the account's other jobs do not wait for room. */
function describeAccountLimit(position: number): string {
  const limit = "the account has as many unfinished jobs as it may have";
  if (position === 1) return `${limit}; this one is next`;
  return `${limit}; ${position - 1} of its batch jobs ${position === 2 ? "goes" : "go"} before this one`;
}
