import type { JobState } from "../../shared/job-state.ts";
import type { Audit } from "../store/audits.ts";
import type { AnswerLink } from "../store/conversations.ts";
import type { JobInput, JobRecord } from "../store/jobs/job-store.ts";
import type { WebhookLog } from "../webhooks/owned-webhook.ts";
import type { Feed } from "./feed.ts";
import type { JobPlacement } from "./job-placement.ts";
import type { JobWaiting } from "./job-waiting.ts";
import type { SubmissionRequest } from "./submissions.ts";

export interface SubmitRequest extends SubmissionRequest {
  readonly input: JobInput;
  /** Maximum wait in ms, if it is shorter than the Cargo's wait limit: a chat client does not wait for an hour. */
  readonly waitLimitMs?: number;
  /** True to cancel the job when its client disconnects, even if this coordinator crashes. */
  readonly isClientBound?: boolean;
  /** The conversation answer that the job makes, stored with the job in one commit. */
  readonly answer?: AnswerLink;
}

export interface JobHandle {
  /** The record of the job at its submission. For a repeated request, the current record of the first job. */
  readonly record: JobRecord;
  readonly webhookSecret: string | null;
  openFeed(): Promise<Feed>;
  cancel(): Promise<JobState>;
}

export interface JobView extends JobRecord {
  readonly waiting: JobWaiting | null;
  readonly placement: JobPlacement | null;
  readonly webhook: WebhookLog | null;
  /** Audit of the job; null before the end of the job, and if its Island's owner was paid at once. */
  readonly audit: Audit | null;
}
