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
  /** Cancels the job when its client disconnects, including by a crash. */
  readonly isClientBound?: boolean;
  /** Stored with the job in one commit. */
  readonly answer?: AnswerLink;
}

export interface JobHandle {
  /** The record at submission. For the first job of a repeated request: the present record. */
  readonly record: JobRecord;
  /** See `SubmittedBatch`. */
  readonly webhookSecret: string | null;
  /** See `JobApi`. */
  openFeed(): Promise<Feed>;
  /** See `JobApi`. */
  cancel(): Promise<JobState>;
}

/** A job in the view of its owner. */
export interface JobView extends JobRecord {
  readonly waiting: JobWaiting | null;
  readonly webhook: WebhookLog | null;
}
