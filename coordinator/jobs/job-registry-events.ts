import type { ActiveJob } from "./active-job.ts";

/** What the job registry tells its subscribers, in the turn of the event loop in which it happens. */
export type JobRegistryEvent =
  /** The job competes for Islands: it is new, lost its attempt, or more Islands may run it now. The event may repeat. */
  | { readonly type: "job_waiting"; readonly job: ActiveJob }
  /** The job no longer competes: it ended, or an Island turned out to have it. */
  | { readonly type: "job_withdrawn"; readonly job: ActiveJob }
  /** The job did not begin within its wait limit. Answered by `JobRegistry.expireWait`, with the reason for the wait. */
  | { readonly type: "wait_limit_passed"; readonly job: ActiveJob }
  /** The job ended while an Island has its attempt: the Island must stop the work. */
  | { readonly type: "attempt_stopped"; readonly job: ActiveJob; readonly reason: "cancelled" | "timeout" }
  /** The job ended. `job.settled` resolves when that is durable. */
  | { readonly type: "job_ended"; readonly job: ActiveJob };
