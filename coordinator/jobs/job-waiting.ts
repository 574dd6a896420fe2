import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobState } from "../../shared/job-state.ts";
import { WAIT_CAUSES, type Waiting } from "../scheduler/explain.ts";

/** Reasons why a job has no output: no Island could start it, its Island is silent, or the account is at its limit. */
export const WAITING_REASONS = [...WAIT_CAUSES, "starting", "no_output", "account_limit"] as const;
export type JobWaiting = Omit<Waiting, "reason"> & {
  readonly reason: (typeof WAITING_REASONS)[number];
  /** Phase of the current attempt; absent while no Island has the job. */
  readonly phase?: AttemptPhase;
};

/** The state of a job and why it has no output, for the readers of its stream. */
export interface JobWait {
  readonly state: JobState;
  readonly waiting: JobWaiting | null;
}
