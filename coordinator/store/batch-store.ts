import type { JobState } from "../../shared/job-state.ts";
import type { Submission, SubmittedJob } from "./job-store.ts";
import type { batchTable, SUBMITTED_BATCH_COLUMNS } from "./job-tables.ts";
import type { RowOf } from "./table.ts";

/** `fail_fast`: the first job that fails or times out cancels the rest. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

type BatchColumns = RowOf<typeof batchTable>;

export interface NewBatch extends Submission, Pick<BatchColumns, (typeof SUBMITTED_BATCH_COLUMNS)[number]> {
  /** At least one; their ids sort in their order. */
  readonly jobs: readonly SubmittedJob[];
  /**
   * Most unfinished jobs that the account may have, where the store counts them (`cluster-store.ts`): the first jobs for which that leaves
   * room take their places at once. Null: none does, because others wait before them.
   */
  readonly placeLimit: number | null;
}

export interface BatchRecord extends Omit<BatchColumns, "unfinished"> {
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
