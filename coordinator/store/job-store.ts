import type { JobError } from "../../shared/errors.ts";
import type { EndEvent, JobEvent, JobState } from "../../shared/job-state.ts";
import type { FinishReason, OutputItem, Timings, Usage } from "../../shared/output.ts";
import type { Posting } from "../credits/postings.ts";
import type { AnswerLink } from "./conversation-store.ts";
import type { Page } from "./page.ts";
import type { NewWebhook } from "./webhook-store.ts";

export type JobInput = Readonly<Record<string, unknown>>;

/** A job of a submission. */
export interface SubmittedJob {
  readonly id: string;
  readonly accountId: string;
  readonly slug: string;
  readonly workloadId: number;
  readonly input: JobInput;
  /** 0 to 100. */
  readonly priority: number;
  readonly priceMicro: number;
  readonly createdAtMs: number;
  /** After this moment a job that has not started ends in `timeout`. */
  readonly waitDeadlineMs: number;
}

/** What a submission has beside its jobs, of which there is one or a batch. */
export interface Submission {
  readonly accountId: string;
  readonly createdAtMs: number;
  /** They hold the jobs' prices; see `holdPostings`. */
  readonly postings: readonly Posting[];
  /** `key` as the client sent it; `bodyHash` tells the same request from another with the same key. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** Told when all has ended. */
  readonly webhook: NewWebhook | null;
}

export interface NewJob extends SubmittedJob, Submission {
  /** Undefined for a job that answers in no conversation. */
  readonly answer?: AnswerLink;
}

/** `created` false: the Idempotency-Key was used before with the same body, and `job` is that first job. */
export interface SubmitOutcome {
  readonly created: boolean;
  readonly job: JobRecord;
}

/** What the coordinator must know of an unfinished job, without its input and output. */
export interface LiveJobRecord {
  readonly id: string;
  readonly accountId: string;
  /** The batch that it is a job of. */
  readonly batchId: string | null;
  readonly slug: string;
  readonly state: JobState;
  readonly priority: number;
  readonly priceMicro: number;
  /** Attempts begun so far; the number of the present one while the job is queued or running. */
  readonly attempt: number;
  readonly islandId: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly waitDeadlineMs: number;
}

export interface JobRecord extends LiveJobRecord {
  readonly workloadId: number;
  readonly input: JobInput;
  /** The JSON value that the job produced; undefined unless completed. */
  readonly output: unknown;
  readonly usage: Usage | null;
  readonly creditsUsedMicro: number;
  readonly finishReason: FinishReason | null;
  readonly timings: Timings | null;
  readonly error: JobError | null;
  readonly completedAtMs: number | null;
  readonly webhookId: string | null;
}

export type JobSummary = Pick<JobRecord, "id" | "batchId" | "slug" | "state" | "createdAtMs" | "completedAtMs">;

export interface JobFilter {
  readonly states?: readonly JobState[];
  readonly slug?: string;
  readonly batchId?: string;
}

/** Something of a job's feed in its order: an output item, or a state that the job came to. */
export type FeedItem = OutputItem | { readonly type: "status"; readonly state: string };

/** Feed items that become durable together. `seq`: the Island's frame that brought them, null for those of the coordinator. */
export interface FeedChunk {
  readonly jobId: string;
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: readonly FeedItem[];
}

/** Feed items of one attempt. */
export type FeedPart = Pick<FeedChunk, "attempt" | "items">;

/** How a job ends. */
export interface JobEnding {
  readonly jobId: string;
  readonly event: EndEvent;
  /** The attempt that ends; 0 for a job that was never assigned. */
  readonly attempt: number;
  readonly atMs: number;
  readonly output?: unknown;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly timings: Timings | null;
  readonly error: JobError | null;
  /** Kept with the job; 0 to its price. */
  readonly chargeMicro: number;
  /** They empty the job's hold; see `settle`. */
  readonly postings: readonly Posting[];
}

/** A move of an unfinished job. Moves of a superseded attempt change nothing. */
export interface JobMove {
  readonly jobId: string;
  readonly event: Extract<JobEvent, "assign" | "start" | "lose">;
  /** `assign`: the new attempt; else the present one. */
  readonly attempt: number;
  /** The Island that it is assigned to; ignored by the other moves. */
  readonly islandId: string | null;
  readonly atMs: number;
}

export interface JobStore {
  /**
   * Stores the job as `pending`, with its postings and the answer that it makes, in one commit.
   * @throws {ServiceError} `idempotency_conflict` when the key was used within 24 h with another body; for an answer `not_found`,
   *   and `conversation_busy` when an answer is in progress or something was said after `afterMessageId`; then what `refusalOf`
   *   says of the postings: `not_found`, `insufficient_credits`. Nothing is stored.
   */
  submit(job: NewJob): Promise<SubmitOutcome>;
  /**
   * The first job of the same request: what `submit` would answer without making one; undefined without an Idempotency-Key. It
   * sees every submission that was asked for before. @throws {ServiceError} `idempotency_conflict`.
   */
  findRepeat(request: Pick<NewJob, "accountId" | "createdAtMs" | "idempotency">): Promise<JobRecord | undefined>;
  /** Whose job it is, without reading the job; undefined for an unknown id. */
  accountOf(jobId: string): Promise<string | undefined>;
  /** The job with all of it; undefined for an unknown id. */
  get(jobId: string): Promise<JobRecord | undefined>;
  /** The input alone. @throws when the job does not exist. */
  input(jobId: string): Promise<JobInput>;
  /** Newest first. `limit` 1 to 100; `total` counts all that the filter admits. */
  list(accountId: string, page: Page, filter: JobFilter): Promise<{ jobs: JobSummary[]; total: number }>;
  /** Every job that has not ended, oldest first. */
  unfinished(): Promise<LiveJobRecord[]>;
  /** @throws {IllegalTransitionError} when state or attempt do not allow it; nothing changes. */
  move(move: JobMove): Promise<void>;
  /**
   * Ends the job, stores its postings and makes its webhooks due, in one commit: its own, and its batch's if it was the last.
   * @throws {IllegalTransitionError} nothing changes.
   */
  end(ending: JobEnding): Promise<{ readonly dueWebhookIds: readonly string[] }>;
  /** Appends to the job's feed. A chunk whose (attempt, seq) is stored already changes nothing. */
  appendFeed(chunk: FeedChunk): Promise<void>;
  /** The whole feed in order, and the last frame stored of `attempt` (0 for none). */
  feed(jobId: string, attempt: number): Promise<{ parts: FeedPart[]; lastSeq: number }>;
  /** Jobs completed at or after `sinceMs`, by Cargo. */
  completionsSince(sinceMs: number): Promise<ReadonlyMap<string, number>>;
}
