import type { NewJob } from "./job-store.ts";

/** How long an Idempotency-Key is remembered. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
/** Retention of the rows: a batch over a file may end a day late, and finds the jobs of its lines by them. */
export const IDEMPOTENCY_KEPT_MS = 2 * IDEMPOTENCY_WINDOW_MS;

export type KeyedRequest = Pick<NewJob, "accountId" | "createdAtMs" | "idempotency">;

/** What the first request with a key created. `jobId`: for a batch, its first job. */
export interface Made {
  readonly jobId: string;
  readonly batchId: string | null;
}

/** @throws for a single job, whose body cannot equal that of a batch. */
export function batchIdOf({ batchId, jobId }: Made): string {
  if (batchId === null) throw new Error(`The Idempotency-Key of a batch belongs to job ${jobId}`);
  return batchId;
}
