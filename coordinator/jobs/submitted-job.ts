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
  /** The job is cancelled when the client leaves, and so when a crash cuts the client off. */
  readonly isClientBound?: boolean;
  /** The answer that the job makes, stored with it in one commit. */
  readonly answer?: AnswerLink;
}

/** A submitted job, for its submitter. */
export interface JobHandle {
  /** As it was when it was submitted. The first job of a repeated request: as it is now. */
  readonly record: JobRecord;
  /** The secret that the coordinator made for the webhook; null without a webhook, or where the client sent a secret. */
  readonly webhookSecret: string | null;
  /** The job's one feed: live while the job is unfinished, else read from storage. */
  openFeed(): Promise<Feed>;
  /** Resolves when the end is durable. @throws {ServiceError} `job_not_cancellable` */
  cancel(): Promise<JobState>;
}

/** A job as its owner sees it. */
export interface JobView extends JobRecord {
  /** Why the job has not begun. */
  readonly waiting: JobWaiting | null;
  readonly webhook: WebhookLog | null;
}
