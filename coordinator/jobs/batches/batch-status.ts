import { isTerminal, JOB_STATES, type JobState } from "../../../shared/job-state.ts";
import type { BatchRecord } from "../../store/jobs/job-store.ts";

/** `pending`: no job has begun. */
export const BATCH_STATUSES = ["pending", "running", "completed", "failed", "cancelled"] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export type StateCounts = Readonly<Record<JobState, number>>;

export function countStates(jobs: readonly { readonly state: JobState }[]): StateCounts {
  const counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  for (const { state } of jobs) counts[state] += 1;
  return counts;
}

/**
 * The state of a batch in one word. When all jobs have ended: `cancelled` if its client cancelled it, else `failed` if any job
 * failed or timed out, else `completed` if any job completed. The counts tell the rest.
 */
export function batchStatusOf(batch: Pick<BatchRecord, "jobs" | "cancelledAtMs">): BatchStatus {
  const counts = countStates(batch.jobs);
  if (batch.jobs.some(({ state }) => !isTerminal(state))) {
    return counts.pending + counts.queued === batch.jobs.length ? "pending" : "running";
  }
  if (batch.cancelledAtMs !== null) return "cancelled";
  if (counts.failed + counts.timeout > 0) return "failed";
  return counts.completed > 0 ? "completed" : "cancelled";
}
