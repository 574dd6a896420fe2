import type { JobState } from "../../shared/job-state.ts";
import type { NewJob } from "./job-store.ts";
import type { NewWebhook } from "./webhook-store.ts";

/** `fail_fast`: the first job that fails or times out cancels the rest. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

export interface NewBatch {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly workloadId: number;
  readonly priority: number;
  readonly failMode: FailMode;
  readonly createdAtMs: number;
  /** At least one; their ids sort in their order. */
  readonly jobs: readonly Omit<NewJob, "idempotency" | "webhook" | "answer">[];
  readonly idempotency: NewJob["idempotency"];
  readonly webhook: NewWebhook | null;
}

export interface BatchRecord {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly workloadId: number;
  readonly priority: number;
  readonly failMode: FailMode;
  readonly createdAtMs: number;
  /** When its client cancelled it as a whole; null if never. */
  readonly cancelledAtMs: number | null;
  /** When its last job ended; null before. */
  readonly completedAtMs: number | null;
  readonly webhookId: string | null;
  /** In the order of the inputs. */
  readonly jobs: readonly { readonly id: string; readonly state: JobState }[];
}

/** `created` false: the Idempotency-Key was used before with the same body, and `batch` is that first batch as it is now. */
export interface SubmitBatchOutcome {
  readonly created: boolean;
  readonly batch: BatchRecord;
}

/** What the coordinator must know of an unfinished batch. */
export interface LiveBatchRecord {
  readonly id: string;
  readonly failMode: FailMode;
  readonly isCancelled: boolean;
  /** A job of it failed or timed out. */
  readonly hasFailed: boolean;
}

export interface BatchStore {
  /**
   * Stores all jobs as `pending` and holds their prices together, in one commit.
   * @throws {ServiceError} `insufficient_credits`, with nothing stored; `idempotency_conflict`.
   */
  submit(batch: NewBatch): Promise<SubmitBatchOutcome>;
  /** As `JobStore.findRepeat`, of a batch. @throws {ServiceError} `idempotency_conflict`. */
  findRepeat(request: Pick<NewBatch, "accountId" | "createdAtMs" | "idempotency">): Promise<BatchRecord | undefined>;
  get(batchId: string): Promise<BatchRecord | undefined>;
  /** Those with a job that has not ended. */
  unfinished(): Promise<LiveBatchRecord[]>;
  /** Notes that the client cancelled the whole; the jobs are ended one by one. A finished batch is left as it is. */
  cancel(batchId: string, atMs: number): Promise<void>;
}
