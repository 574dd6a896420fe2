import type { NewJob } from "./job-store.ts";

/** How long an Idempotency-Key is remembered. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3_600_000;
/** Rows stay for longer: who ends a batch over a file, up to a day late, finds the jobs of its lines by them. */
export const IDEMPOTENCY_KEPT_MS = 2 * IDEMPOTENCY_WINDOW_MS;

export type KeyedRequest = Pick<NewJob, "accountId" | "createdAtMs" | "idempotency">;

/** What the first request with a key made. `jobId`: the first job of a batch. */
export interface Made {
  readonly jobId: string;
  readonly batchId: string | null;
}

/** The batch that the first request made. @throws if it made a single job: its body cannot equal that of a batch. */
export function batchIdOf({ batchId, jobId }: Made): string {
  if (batchId === null) throw new Error(`The Idempotency-Key of a batch belongs to ${jobId}`);
  return batchId;
}
