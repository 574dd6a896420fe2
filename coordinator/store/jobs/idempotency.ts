import type { NewJob } from "./job-store.ts";

/** Time for which a repeated Idempotency-Key returns the first result. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
/**
 * Retention of key rows. It is longer, because a file batch may end a day late and finds its lines' jobs by these rows.
 */
export const IDEMPOTENCY_KEPT_MS = 2 * IDEMPOTENCY_WINDOW_MS;

export type KeyedRequest = Pick<NewJob, "accountId" | "createdAtMs" | "idempotency">;

/** What the first request with a key created. `jobId`: the job; for a batch, its first job. */
export interface FirstRequest {
  readonly jobId: string;
  readonly batchId: string | null;
}

/** Returns the batch id. @throws for a single job, which is a bug: its body cannot equal the body of a batch. */
export function requireBatchId({ batchId, jobId }: FirstRequest): string {
  if (batchId === null) throw new Error(`The Idempotency-Key of a batch belongs to job ${jobId}`);
  return batchId;
}
