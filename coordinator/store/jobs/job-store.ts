import type { JobError } from "../../../shared/errors.ts";
import type { EndEvent, JobEvent, JobState } from "../../../shared/job-state.ts";
import type { FinishReason, OutputItem, Timings, Usage } from "../../../shared/output.ts";
import type { Posting } from "../../credits/postings.ts";
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
  readonly input: JobInput;
  /** `input` as JSON, as it is stored. */
  readonly inputJson: string;
  /** Account's weight in the fair share at the time of submission; null for the default. Stored with the account, not with the job. */
  readonly share: number | null;
}

/** The common part of submissions of jobs and of batches. */
export interface Submission {
  readonly accountId: string;
  readonly createdAtMs: number;
  /** Created by `holdPostings`. */
  readonly postings: readonly Posting[];
  /** `key`: value from the client. `bodyHash`: shows whether a second request with the key is a repeat. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** Null or absent for a session. */
  readonly apiKey?: SubmittingKey | null;
  /** Sent when the job, or the last job of the batch, has ended. */
  readonly webhook: NewWebhook | null;
}

export interface NewJob extends SubmittedJob, Submission {
  /** Maximum number of unfinished jobs of the account, if the store counts them (`QuotaSlots`); absent for no limit. */
  readonly maxJobs?: number;
  /** Island that gets the first attempt in the same commit. Absent: the job is stored as `pending`. */
  readonly assignedTo?: string;
  /** Absent for a job outside a conversation. */
  readonly answer?: AnswerLink;
}

/** An unfinished job in the coordinator's memory, without input and output. */
export interface ActiveJobRecord extends Pick<JobColumns, (typeof ACTIVE_COLUMNS)[number]> {
  /** Account's weight in the fair share; null for the default. */
  readonly share: number | null;
  /** Set if the store counts quota slots (`QuotaSlots`). */
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
  /** Null if it is longer than `MAX_LISTED_INPUT_BYTES`; `{}` if it was removed. */
  readonly input: JobInput | null;
}

export interface JobFilter {
  readonly states?: readonly JobState[] | undefined;
  readonly slug?: string | undefined;
  readonly batchId?: string | undefined;
}

/** A state that a job reached, as an entry of its feed. */
export interface StatusItem {
  readonly type: "status";
  readonly state: string;
}

type ImageItem = Extract<OutputItem, { type: "image" }>;

/** The data of a large image stays in storage. */
export type FeedItem =
  | Exclude<OutputItem, ImageItem>
  | (Omit<ImageItem, "data"> & { readonly data: string | LargeJson })
  | StatusItem;

/** Feed items that become durable together. `seq`: number of the Island's frame; null for the coordinator's own items. */
export interface FeedChunk {
  readonly jobId: string;
  readonly attempt: number;
  readonly seq: number | null;
  readonly items: readonly (OutputItem | StatusItem)[];
}

/** Feed items of one attempt. */
export interface FeedPart {
  readonly attempt: number;
  readonly items: readonly FeedItem[];
}

export interface FeedProgress {
  readonly items: number;
  readonly tokens: number;
  /** Approximate size of all items in bytes, without large values. */
  readonly bytes: number;
  readonly largeBytes: number;
  /** Number of outputs by attempt, in order; only attempts with output. */
  readonly outputs: readonly { readonly attempt: number; readonly count: number }[];
  /** True if there is text or an image, which cannot be withdrawn. */
  readonly hasOutput: boolean;
  readonly hasText: boolean;
  /** Last stored frame of the current attempt; 0 for none. */
  readonly lastSeq: number;
}

export interface JobEnding {
  readonly jobId: string;
  readonly event: EndEvent;
  /** Current attempt; 0 for a job that was never assigned. */
  readonly attempt: number;
  readonly atMs: number;
  /** Start of the attempt, if it is stored with the end. */
  readonly startedAtMs?: number;
  /** Undefined if the output is the text of the feed. Ignored unless the job completes. */
  readonly output?: unknown;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly timings: Timings | null;
  readonly error: JobError | null;
  /** From 0 to the price of the job. */
  readonly chargeMicro: number;
  /** Created by `settle`. */
  readonly postings: readonly Posting[];
  readonly lastChunk?: FeedChunk;
}

export interface JobMove {
  readonly jobId: string;
  readonly event: Extract<JobEvent, "assign" | "start" | "lose" | "regain">;
  /** Number of the new attempt for `assign`, of the current attempt otherwise. */
  readonly attempt: number;
  /** Island that now has the job, for `assign` and `regain`; ignored otherwise. */
  readonly islandId: string | null;
  /** Number of refused attempts so far, for `lose`; absent if it does not change. Ignored otherwise. */
  readonly refusals?: number;
  readonly atMs: number;
  /** Earliest time at which the job may stop waiting for another Island, for `lose`. */
  readonly waitDeadlineMs?: number;
}

/** `fail_fast`: the first job that fails or times out cancels the rest. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

type BatchColumns = RowOf<typeof batchTable>;

export interface NewBatch extends Submission, Pick<BatchColumns, (typeof SUBMITTED_BATCH_COLUMNS)[number]> {
  /** Jobs, at least one; their ids sort in this order. */
  readonly jobs: readonly SubmittedJob[];
  /**
   * Maximum number of unfinished jobs of the account, if the store counts them (`QuotaSlots`): the first jobs that fit
   * take their slots at once. Null: none does, because other jobs wait before them.
   */
  readonly slotLimit: number | null;
}

export interface BatchRecord extends Omit<BatchColumns, "unfinished"> {
  /** In the order of the inputs. */
  readonly jobs: readonly { readonly id: string; readonly state: JobState }[];
}

/** An unfinished batch in the coordinator's memory. */
export interface ActiveBatchRecord extends Pick<BatchColumns, "id" | "failMode"> {
  readonly isCancelled: boolean;
  /** True if one of its jobs failed or timed out. */
  readonly hasFailed: boolean;
}
