import type { JobState } from "../../shared/job-state.ts";
import type { AnswerLink } from "../store/conversations.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { WebhookLog } from "../webhooks/owned-webhook.ts";
import type { Feed } from "./feed.ts";
import type { JobWaiting } from "./job-waiting.ts";
import type { SubmissionRequest } from "./submissions.ts";

export interface SubmitRequest extends SubmissionRequest {
  readonly input: JobInput;
  /** Shortens the Cargo's wait limit: a chat client does not wait for an hour. */
  readonly waitLimitMs?: number;
  /** True if the job is cancelled when its client disconnects, including by a crash. */
  readonly isClientBound?: boolean;
  /** The conversation answer of the job, stored with it in one commit. */
  readonly answer?: AnswerLink;
}

/** A submitted job, for its submitter. */
export interface JobHandle {
  /** The record at submission. For the first job of a repeated request: the present record. */
  readonly record: JobRecord;
  /**
   * The secret that the coordinator created for the webhook; null without a webhook, or if the client sent a secret.
   */
  readonly webhookSecret: string | null;
  /** Opens the job's only feed: live while the job is unfinished, else from storage. */
  openFeed(): Promise<Feed>;
  /** Resolves when the end is durable. @throws {ServiceError} `job_not_cancellable` */
  cancel(): Promise<JobState>;
}

/** A job in the view of its owner. */
export interface JobView extends JobRecord {
  readonly waiting: JobWaiting | null;
  readonly webhook: WebhookLog | null;
}
