import type { JobError } from "../../shared/errors.ts";
import type { JobEnding } from "../store/jobs/job-store.ts";
import type { ActiveJob } from "./active-job.ts";
import type { WritableFeed } from "./feed.ts";

/** What the job registry tells its subscribers, in the turn of the event loop in which it happens. */
export type JobRegistryEvent =
  /** The job is about to be stored. If it is assigned before this event is over, its first attempt is stored with it. */
  | { readonly type: "job_offered"; readonly job: ActiveJob }
  /** The job could not be stored. The Island that has its attempt was told nothing of it. */
  | { readonly type: "offer_withdrawn"; readonly job: ActiveJob }
  /** The job is new, and durable. */
  | { readonly type: "job_stored"; readonly job: ActiveJob }
  /** The job is in another state, and has not ended. Its first state comes with `job_stored`. */
  | { readonly type: "job_moved"; readonly job: ActiveJob }
  /** The job competes for Islands: it is new, lost its attempt, or more Islands may run it now. The event may repeat. */
  | { readonly type: "job_waiting"; readonly job: ActiveJob }
  /** The job no longer competes: it ended, or an Island turned out to have it. */
  | { readonly type: "job_withdrawn"; readonly job: ActiveJob }
  /** The job did not begin within its wait limit. Answered by `JobRegistry.expireWait`, with the reason for the wait. */
  | { readonly type: "wait_limit_passed"; readonly job: ActiveJob }
  /** The run took longer than its limit. Answered by `JobAttempts.expireRun`. */
  | { readonly type: "run_limit_passed"; readonly job: ActiveJob }
  /** The Island gave no sign of life for as long as the present phase may take. Answered by `JobAttempts.expirePhase`, or not: then the phase counts anew. */
  | { readonly type: "phase_limit_passed"; readonly job: ActiveJob }
  /** The job ended, or the attempt is given up, while an Island has it: the Island must stop the work. */
  | { readonly type: "attempt_stopped"; readonly job: ActiveJob; readonly reason: "cancelled" | "timeout" }
  /** An Island was chosen for the job: it has attempt `job.attempt`. */
  | { readonly type: "attempt_begun"; readonly job: ActiveJob }
  /** The Island that runs the job is to get more of its input: a line, or without one the end. Lost while the Island is away. */
  /** The client may see the first text or image of the job. */
  | { readonly type: "first_output"; readonly job: ActiveJob }
  /** The Island refused the attempt, and another will follow. `job.islandId` still names the Island that had it. */
  | { readonly type: "attempt_refused"; readonly job: ActiveJob; readonly error: JobError }
  /** An attempt failed or was lost, and another will follow. `job.islandId` still names the Island that had it. */
  | {
      readonly type: "attempt_failed";
      readonly job: ActiveJob;
      readonly cause: "failed" | "lost";
      readonly error: JobError;
    }
  /**
   * Another coordinator has the job: it is not in the registry any more. Its feed is open, and written by nobody now. `ownerId`: who has
   * it, as far as that is known.
   */
  | {
      readonly type: "job_dropped";
      readonly job: ActiveJob;
      readonly feed: WritableFeed;
      readonly ownerId: string | null;
    }
  /** The job ended. `job.settled` resolves when that is durable. */
  | { readonly type: "job_ended"; readonly job: ActiveJob; readonly ending: JobEnding };
