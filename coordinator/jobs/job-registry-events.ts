import type { JobError } from "../../shared/errors.ts";
import type { NewAudit } from "../store/audits.ts";
import type { JobEnding } from "../store/jobs/job-store.ts";
import type { ActiveJob } from "./active-job.ts";
import type { WritableFeed } from "./feed.ts";

/** An event of `JobRegistry`, emitted synchronously. */
export type JobRegistryEvent =
  /** The job is about to be stored. If it is assigned during this event, its first attempt is stored with it. */
  | { readonly type: "job_offered"; readonly job: ActiveJob }
  /** The offered job could not be stored. The Island with its first attempt must stop the work. */
  | { readonly type: "offer_withdrawn"; readonly job: ActiveJob }
  /** Follows other events of an offered job, except its end. */
  | { readonly type: "job_stored"; readonly job: ActiveJob }
  /** The job changed its state and has not ended. Its first state comes with `job_stored`. */
  | { readonly type: "job_moved"; readonly job: ActiveJob }
  /** The job competes for Islands: it is new, lost its attempt, or more Islands may run it now. May recur. */
  | { readonly type: "job_waiting"; readonly job: ActiveJob }
  /** The job no longer competes: it ended, or an Island turned out to have it. */
  | { readonly type: "job_withdrawn"; readonly job: ActiveJob }
  /**
   * The job exceeded its wait limit. The subscriber must call `JobRegistry.expireWait` with the reason for the wait.
   */
  | { readonly type: "wait_limit_passed"; readonly job: ActiveJob }
  /** The job exceeded its run limit. The subscriber must call `JobRegistry.expireRun`. */
  | { readonly type: "run_limit_passed"; readonly job: ActiveJob }
  /** The attempt exceeded its phase limit, which restarts unless the subscriber calls `JobRegistry.expirePhase`. */
  | { readonly type: "phase_limit_passed"; readonly job: ActiveJob }
  /** The job or its attempt ended while an Island has it: the Island must stop the work. */
  | { readonly type: "attempt_stopped"; readonly job: ActiveJob; readonly reason: "cancelled" | "timeout" }
  | { readonly type: "attempt_begun"; readonly job: ActiveJob }
  | { readonly type: "first_output"; readonly job: ActiveJob }
  /** The current attempt made its first output. Follows `first_output` if the job had no output before. */
  | { readonly type: "attempt_output"; readonly job: ActiveJob }
  /** An Island refused the attempt, and another attempt will follow. `job.islandId` is still that Island. */
  | { readonly type: "attempt_refused"; readonly job: ActiveJob; readonly error: JobError }
  /** An Island failed or was lost, and another attempt will follow. `job.islandId` is still that Island. */
  | {
      readonly type: "attempt_failed";
      readonly job: ActiveJob;
      readonly cause: "failed" | "lost";
      readonly error: JobError;
    }
  /** Another coordinator has the job. Its feed stays open but has no writer. `ownerId`: the new owner, if known. */
  | {
      readonly type: "job_dropped";
      readonly job: ActiveJob;
      readonly feed: WritableFeed;
      readonly ownerId: string | null;
    }
  /** The job ended and needs an audit once its end is durable, unless `offer_withdrawn` or `job_dropped` follows. */
  | { readonly type: "audit_due"; readonly job: ActiveJob; readonly audit: NewAudit }
  /** The job ended. `job.settled` resolves when the end is durable. */
  | { readonly type: "job_ended"; readonly job: ActiveJob; readonly ending: JobEnding };
