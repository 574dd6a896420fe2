import type { JobState } from "../../shared/job-state.ts";
import type { JobFilter, JobInput, JobRecord, JobSummary, NewJob, SubmitOutcome } from "../store/job-store.ts";
import type { WebhookRequest } from "../webhooks/new-webhook.ts";
import type { WebhookLog } from "../webhooks/webhook-log.ts";
import type { Feed } from "./feed.ts";
import type { JobWaiting } from "./waiting.ts";

export interface SubmitRequest {
  readonly accountId: string;
  readonly slug: string;
  readonly input: JobInput;
  /** 0 to 100. */
  readonly priority: number;
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** Shortens the Cargo's wait limit; a chat client does not wait for an hour. */
  readonly waitLimitMs?: number;
  /** To be told of the job's end. */
  readonly webhook?: WebhookRequest | undefined;
  /** Stores the job with what belongs to it in one commit; by itself when left out. */
  readonly store?: (job: NewJob) => Promise<SubmitOutcome>;
}

/** The answer to a submission. */
export interface SubmittedJob extends JobRecord {
  /** The secret that we made for the webhook; null without one, or where the client sent its own. */
  readonly webhookSecret: string | null;
}

/** A job as its owner sees it; `waiting` says why it has not begun. */
export interface JobView extends JobRecord {
  readonly waiting: JobWaiting | null;
  readonly webhook: WebhookLog | null;
}

/** What API clients can do with jobs. Another account's job does not exist for them. */
export interface JobService {
  /**
   * Resolves when the job is durable and its price held.
   * @throws {ServiceError} `cargo_not_found`, `validation_failed`, `insufficient_credits`, `idempotency_conflict`;
   * {@link RateLimitedError} when the account has as many unfinished jobs as it may.
   */
  submit(request: SubmitRequest): Promise<SubmittedJob>;
  /** @throws {ServiceError} `not_found` */
  get(accountId: string, jobId: string): Promise<JobView>;
  list(
    accountId: string,
    page: { readonly limit: number; readonly offset: number },
    filter: JobFilter,
  ): Promise<{ jobs: JobSummary[]; total: number }>;
  /** Resolves when the end is durable. @throws {ServiceError} `not_found`, `job_not_cancellable`. */
  cancel(accountId: string, jobId: string): Promise<JobState>;
  /** Resolves when the account has the job, of which nothing is read for it. @throws {ServiceError} `not_found` */
  assertOwn(accountId: string, jobId: string): Promise<void>;
  /** The job's one feed: live while the job is unfinished, else rebuilt from storage. @throws {ServiceError} `not_found`. */
  openFeed(accountId: string, jobId: string): Promise<Feed>;
}
