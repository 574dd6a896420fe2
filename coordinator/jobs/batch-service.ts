import type { BatchRecord, FailMode } from "../store/batch-store.ts";
import type { JobInput } from "../store/job-store.ts";
import type { WebhookLog } from "../webhooks/webhook-log.ts";
import type { SubmitRequest } from "./job-service.ts";

export interface SubmitBatchRequest extends Pick<SubmitRequest, "accountId" | "slug" | "priority" | "idempotency"> {
  /** One job each; 1 to 100. */
  readonly inputs: readonly JobInput[];
  readonly failMode: FailMode;
  readonly webhook: SubmitRequest["webhook"];
}

/** A batch as its owner sees it. */
export interface BatchView extends BatchRecord {
  readonly webhook: WebhookLog | null;
}

/** The answer to a submission. */
export interface SubmittedBatch extends BatchView {
  /** The secret that we made for the webhook; null without one, or where the client sent its own. */
  readonly webhookSecret: string | null;
}

/** What API clients can do with batches. Another account's batch does not exist for them. */
export interface BatchService {
  /**
   * Resolves when all jobs are durable and their prices held.
   * @throws {ServiceError} `cargo_not_found`, `validation_failed` naming every bad input, `insufficient_credits`,
   * `idempotency_conflict`; {@link RateLimitedError} when as many of the account's jobs wait as may.
   */
  submit(request: SubmitBatchRequest): Promise<SubmittedBatch>;
  /** @throws {ServiceError} `not_found` */
  get(accountId: string, batchId: string): Promise<BatchView>;
  /** Ends every unfinished job; resolves when that is durable. @throws {ServiceError} `not_found`, `job_not_cancellable`. */
  cancel(accountId: string, batchId: string): Promise<BatchView>;
}
