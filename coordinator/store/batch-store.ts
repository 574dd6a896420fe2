import type { JobState } from "../../shared/job-state.ts";
import type { Submission, SubmittedJob } from "./job-store.ts";

/** `fail_fast`: the first job that fails or times out cancels the rest. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

export interface NewBatch extends Submission {
  readonly id: string;
  readonly slug: string;
  readonly workloadId: number;
  readonly priority: number;
  readonly failMode: FailMode;
  /** At least one; their ids sort in their order. */
  readonly jobs: readonly SubmittedJob[];
  /**
   * Most unfinished jobs that the account may have, where the store counts them (`job-places.ts`): the first jobs for which that leaves
   * room take their places at once. Null: none does, because others wait before them.
   */
  readonly placeLimit: number | null;
}

export interface BatchRecord {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly workloadId: number;
  readonly priority: number;
  readonly failMode: FailMode;
  readonly createdAtMs: number;
  /** When its client cancelled the whole batch; null if never. */
  readonly cancelledAtMs: number | null;
  /** When its last job ended; null before. */
  readonly completedAtMs: number | null;
  readonly webhookId: string | null;
  /** In the order of the inputs. */
  readonly jobs: readonly { readonly id: string; readonly state: JobState }[];
}

/** `created` is false if the Idempotency-Key was used before with the same body; `batch` is then that first batch in its present state. */
export interface SubmitBatchOutcome {
  readonly created: boolean;
  readonly batch: BatchRecord;
  /** So many jobs, the first ones, have a place. 0 where the store counts none. */
  readonly placed: number;
}

/** What the coordinator keeps in memory of an unfinished batch. */
export interface ActiveBatchRecord {
  readonly id: string;
  readonly failMode: FailMode;
  readonly isCancelled: boolean;
  /** One of its jobs failed or timed out. */
  readonly hasFailed: boolean;
}
