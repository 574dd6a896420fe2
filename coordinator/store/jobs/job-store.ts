import type { JobError } from "../../../shared/errors.ts";
import type { EndEvent, JobEvent, JobState } from "../../../shared/job-state.ts";
import type { FinishReason, OutputItem, Timings, Usage } from "../../../shared/output.ts";
import type { Posting } from "../../credits/postings.ts";
import type { NewAudit } from "../audits.ts";
import type { AnswerLink } from "../conversations.ts";
import type { SubmittingKey } from "../accounts/key-spending.ts";
import type {
  ACTIVE_COLUMNS,
  INTERNAL_COLUMNS,
  jobTable,
  SUBMITTED_COLUMNS,
  batchTable,
  SUBMITTED_BATCH_COLUMNS,
} from "./job-tables.ts";
import type { LargeJson } from "./large-json.ts";
import type { RowOf } from "../steps/table.ts";
import type { NewWebhook } from "./webhooks.ts";

type JobColumns = RowOf<typeof jobTable>;
export type JobInput = Readonly<Record<string, unknown>>;
export type JobClass = JobColumns["jobClass"];

export interface SubmittedJob extends Pick<JobColumns, (typeof SUBMITTED_COLUMNS)[number]> {
  readonly inputJson: string;
  /** Weight of the account in the fair share; null for the default. Stored in the account's row. */
  readonly share: number | null;
}

/** Members that submissions of jobs and of batches have in common. */
export interface Submission {
  readonly accountId: string;
  readonly createdAtMs: number;
  /** Postings of the hold, created by `holdPostings`. */
  readonly postings: readonly Posting[];
  /** `key`: the Idempotency-Key. `bodyHash`: hash of the body, by which a repeat is told from a conflict. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** API key of the request; null or absent for a session. */
  readonly apiKey?: SubmittingKey | null;
  /** Webhook that is sent when the job, or the last job of the batch, has ended; null for none. */
  readonly webhook: NewWebhook | null;
}

export interface NewJob extends SubmittedJob, Submission {
  readonly input: JobInput;
  /**
   * Limit of the account's unfinished jobs, checked if the store counts quota slots (`QuotaSlots`); absent for no
   * limit.
   */
  readonly maxJobs?: number;
  /** Island that gets the first attempt in the same commit. If absent, the job is stored as `pending`. */
  readonly assignedTo?: string;
  /** Message rows of the job's conversation; absent for a job outside a conversation. */
  readonly answer?: AnswerLink;
}

/** An unfinished job as its coordinator keeps it in memory, without input and output. */
export interface ActiveJobRecord extends Pick<JobColumns, (typeof ACTIVE_COLUMNS)[number]> {
  /** Weight of the account in the fair share; null for the default. */
  readonly share: number | null;
  /** Whether the job has a quota slot; absent if the store does not count slots (`QuotaSlots`). */
  readonly holdsQuota?: boolean;
}

type PublicColumns = Omit<JobColumns, (typeof INTERNAL_COLUMNS)[number] | "promptTokens" | "completionTokens">;

export interface JobRecord extends ActiveJobRecord, PublicColumns {
  readonly input: JobInput;
  /** JSON value that the job produced, a {@link LargeJson} if it is large; undefined unless the job completed. */
  readonly output: unknown;
  readonly usage: Usage | null;
}

export type JobSummary = Pick<JobRecord, "id" | "batchId" | "slug" | "state" | "createdAtMs" | "completedAtMs">;

export interface ListedJob extends JobSummary, Pick<JobRecord, "workloadId"> {
  /** Input of the job; null if longer than `MAX_LISTED_INPUT_BYTES`, `{}` if it was removed. */
  readonly input: JobInput | null;
}

export interface JobFilter {
  readonly states?: readonly JobState[] | undefined;
  readonly slug?: string | undefined;
  readonly batchId?: string | undefined;
}

/** Feed item for a state that the job reached. */
export interface StatusItem {
  readonly type: "status";
  readonly state: string;
}

type ImageItem = Extract<OutputItem, { type: "image" }>;

/** An item of a feed. The data of a large image stays in storage. */
export type FeedItem =
  | Exclude<OutputItem, ImageItem>
  | (Omit<ImageItem, "data"> & { readonly data: string | LargeJson })
  | StatusItem;

/** Items stored in one commit. `seq`: number of the Island's frame; null for items of the coordinator. */
export interface FeedChunk {
  readonly jobId: string;
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: readonly (OutputItem | StatusItem)[];
}

/** Consecutive feed items of one attempt. */
export interface FeedPart {
  readonly attempt: number;
  readonly items: readonly FeedItem[];
}

/** Totals of a job's feed. */
export interface FeedProgress {
  readonly items: number;
  readonly tokens: number;
  /** Approximate size of all items in bytes, without large values. */
  readonly bytes: number;
  readonly largeBytes: number;
  /** Number of output items of each attempt that has any, in order of attempt. */
  readonly outputs: readonly { readonly attempt: number; readonly count: number }[];
  /** Whether the feed has text or an image, which cannot be withdrawn. */
  readonly hasOutput: boolean;
  readonly hasText: boolean;
  /** Whether the feed contains more than white space. */
  readonly hasVisible: boolean;
  /** Number of the last stored frame of the current attempt; 0 for none. */
  readonly lastSeq: number;
}

export interface JobEnding {
  readonly jobId: string;
  readonly event: EndEvent;
  /** Number of the current attempt; 0 for a job that was never assigned. */
  readonly attempt: number;
  readonly atMs: number;
  /** Start of the attempt, if the start is stored together with the end. */
  readonly startedAtMs?: number;
  /** Output of a completed job; undefined if it is the text of the feed. Ignored for other ends. */
  readonly output?: unknown;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly timings: Timings | null;
  readonly error: JobError | null;
  /** Charge in micro-credits, from 0 to the price of the job. */
  readonly chargeMicro: number;
  /** Postings of the settlement, created by `settle`. */
  readonly postings: readonly Posting[];
  /** What is stored for an audit of the job; absent if the Island's owner is paid at once. */
  readonly audit?: NewAudit;
  readonly lastChunk?: FeedChunk;
}

export interface JobMove {
  readonly jobId: string;
  readonly event: Extract<JobEvent, "assign" | "start" | "lose" | "regain">;
  /** Number of the new attempt for `assign`, of the current attempt for other events. */
  readonly attempt: number;
  /** Island that gets the job, for `assign` and `regain`; ignored for other events. */
  readonly islandId: string | null;
  /** Number of refused attempts so far, for `lose`; absent if it does not change. Ignored for other events. */
  readonly refusals?: number;
  readonly atMs: number;
  /** New deadline for the start of the job, for `lose`; ignored if earlier than the stored deadline. */
  readonly waitDeadlineMs?: number;
}

/** What a batch does after a job failed or timed out. `fail_fast`: cancels the remaining jobs. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

type BatchColumns = RowOf<typeof batchTable>;

export interface NewBatch extends Submission, Pick<BatchColumns, (typeof SUBMITTED_BATCH_COLUMNS)[number]> {
  /** Jobs, at least one; their ids sort in the order of the inputs. */
  readonly jobs: readonly SubmittedJob[];
  /**
   * Limit of the account's unfinished jobs, checked if the store counts quota slots (`QuotaSlots`): the first jobs that
   * fit take their slots at once. Null if no job takes one yet, because other jobs of the account wait before them.
   */
  readonly slotLimit: number | null;
}

export interface BatchRecord extends Omit<BatchColumns, "unfinished"> {
  readonly jobs: readonly { readonly id: string; readonly state: JobState }[];
}

/** An unfinished batch as the coordinator keeps it in memory. */
export interface ActiveBatchRecord extends Pick<BatchColumns, "id" | "failMode"> {
  readonly isCancelled: boolean;
  /** Whether one of the batch's jobs failed or timed out. */
  readonly hasFailed: boolean;
}
