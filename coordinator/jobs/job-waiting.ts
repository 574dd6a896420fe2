import type { AttemptPhase } from "../../shared/attempt-phase.ts";
import type { JobState } from "../../shared/job-state.ts";
import { WAIT_CAUSES } from "../scheduler/explain.ts";
import type { Waiting } from "../scheduler/scheduler.ts";

/** Why a job has no output: what keeps it from an Island, its Island is not ready yet or silent, or its account's limit is reached. */
export const WAITING_REASONS = [...WAIT_CAUSES, "starting", "no_output", "account_limit"] as const;
export type JobWaiting = Omit<Waiting, "reason"> & {
  readonly reason: (typeof WAITING_REASONS)[number];
  /** Absent while no Island has the job. */
  readonly phase?: AttemptPhase;
};

/** What readers of an unfinished job's stream are told while it has no output. */
export interface JobWait {
  readonly state: JobState;
  readonly waiting: JobWaiting | null;
}
