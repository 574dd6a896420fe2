import { describeDownloads } from "../scheduler/explain.ts";
import type { Scheduler, Waiting } from "../scheduler/scheduler.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { LiveJob } from "./live-job.ts";

/** Why a job has not begun: for want of an Island, or because the one that has it is not ready yet. */
export type JobWaiting = Omit<Waiting, "reason"> & { readonly reason: Waiting["reason"] | "starting" };

/** Answers why a job has not begun. Source: DESIGN §4, row "Detail of a job". */
export class WaitingReport {
  readonly #scheduler: Scheduler;
  readonly #dispatcher: Dispatcher;

  constructor(scheduler: Scheduler, dispatcher: Dispatcher) {
    this.#scheduler = scheduler;
    this.#dispatcher = dispatcher;
  }

  /** Null once the job runs or has ended. */
  of(job: LiveJob): JobWaiting | null {
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
