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
  /** The account's weight in the fair share when the job was submitted; null: the default. Kept with the account, not with the job. */
  readonly share: number | null;
}

/** What a submission has beside its job or its batch of jobs. */
export interface Submission {
  readonly accountId: string;
  readonly createdAtMs: number;
  /** Hold the prices of the jobs; made by `holdPostings`. */
  readonly postings: readonly Posting[];
  /** `key` as the client sent it; `bodyHash` shows whether a second request with the key is the same one. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
  /** The API key that it comes with; null or absent for a session. */
  readonly apiKey?: SubmittingKey | null;
  /** Posted when the job, or the last job of the batch, has ended. */
  readonly webhook: NewWebhook | null;
}

export interface NewJob extends SubmittedJob, Submission {
  /** Most unfinished jobs that the account may have, where the store counts them (`cluster-store.ts`); absent: any number. */
  readonly maxJobs?: number;
  /** The Island that the job is given to as it is stored: its first attempt. Absent: the job is stored as `pending`. */
  readonly assignedTo?: string;
  /** Undefined for a job that answers in no conversation. */
  readonly answer?: AnswerLink;
}

/** `created` is false if the Idempotency-Key was used before with the same body; `job` is then that first job. */
export interface SubmitOutcome {
  readonly created: boolean;
  readonly job: JobRecord;
}

/** What the coordinator keeps in memory of an unfinished job: neither its input nor its output. */
export interface ActiveJobRecord extends Pick<JobColumns, (typeof ACTIVE_COLUMNS)[number]> {
  /** The account's weight in the fair share; null: the default. */
  readonly share: number | null;
  /** Whether it counts against its account's limit of unfinished jobs, where the store counts them (`cluster-store.ts`). */
  readonly hasPlace?: boolean;
}

/** The columns that a read gives as they are. */
type PlainColumns = Omit<JobColumns, (typeof INTERNAL_COLUMNS)[number] | "promptTokens" | "completionTokens">;

export interface JobRecord extends ActiveJobRecord, PlainColumns {
  readonly input: JobInput;
  /** The JSON value that the job produced, a {@link LargeJson} if it is large; undefined unless it completed. */
  readonly output: unknown;
  readonly usage: Usage | null;
}

export type JobSummary = Pick<JobRecord, "id" | "batchId" | "slug" | "state" | "createdAtMs" | "completedAtMs">;

/** Longest input, in bytes of its JSON, that a list has. */
export const MAX_LISTED_INPUT_BYTES = 4_096;

/** A job in a list. Its input is null if it is longer than {@link MAX_LISTED_INPUT_BYTES}, and `{}` once it was removed. */
export interface ListedJob extends JobSummary, Pick<JobRecord, "workloadId"> {
  readonly input: JobInput | null;
}

/** The row of a list as a database gives it: without an input if it was removed, with the text `null` if it is too long. */
export interface ListedRow extends Omit<ListedJob, "input"> {
  readonly input: string | null;
}

export function listedJobOf({ input, ...row }: ListedRow): ListedJob {
  return { ...row, input: input === null ? {} : (JSON.parse(input) as JobInput | null) };
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

/** One entry of a job's feed: an output item, or a state that the job reached. The data of a large image stays in storage. */
export type FeedItem =
  | Exclude<OutputItem, ImageItem>
  | (Omit<ImageItem, "data"> & { readonly data: string | LargeJson })
  | StatusItem;

/** Feed items that become durable together. `seq`: number of the Island's frame that carried them; null for the coordinator's own items. */
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

/** How far the feed of an unfinished job has come. It is known without reading the feed. */
export interface FeedProgress {
  readonly items: number;
  readonly tokens: number;
  /** About the size of all items, in bytes, without large values. */
  readonly bytes: number;
  readonly largeBytes: number;
  /** Number of outputs by attempt, in order; only attempts with output. */
  readonly outputs: readonly { readonly attempt: number; readonly count: number }[];
  /** True with text or an image: what cannot be taken back. */
  readonly hasOutput: boolean;
  readonly hasText: boolean;
  /** Number of the last stored frame of the present attempt; 0 for none. */
  readonly lastSeq: number;
}

export interface JobEnding {
  readonly jobId: string;
  readonly event: EndEvent;
  /** The present attempt; 0 for a job that was never assigned. */
  readonly attempt: number;
  readonly atMs: number;
  /** When the attempt began, if that move is not stored yet: it is stored with the end. */
  readonly startedAtMs?: number;
  /** Undefined for a completed job: the text of its feed. Ignored for a job that does not complete. */
  readonly output?: unknown;
  readonly usage: Usage | null;
  readonly finishReason: FinishReason | null;
  readonly timings: Timings | null;
  readonly error: JobError | null;
  /** What the job is charged, 0 to its price; kept with the job. */
  readonly chargeMicro: number;
  /** Empty the hold of the job; made by `settle`. */
  readonly postings: readonly Posting[];
  /** What the job said last: added to its feed in the same commit. */
  readonly lastChunk?: FeedChunk;
}

/** A state change of an unfinished job. */
export interface JobMove {
  readonly jobId: string;
  readonly event: Extract<JobEvent, "assign" | "start" | "lose" | "regain">;
  /** For `assign` the number of the new attempt, else that of the present one. */
  readonly attempt: number;
  /** For `assign` and `regain` the Island that has the job now; ignored by the other moves. */
  readonly islandId: string | null;
  /** For `lose`: the attempts that were refused so far; absent if that number stays. Ignored by the other moves. */
  readonly refusals?: number;
  readonly atMs: number;
  /** For `lose`: the job may wait at least until then for another Island. */
  readonly waitDeadlineMs?: number;
}

/** `fail_fast`: the first job that fails or times out cancels the rest. */
export const FAIL_MODES = ["best_effort", "fail_fast"] as const;
export type FailMode = (typeof FAIL_MODES)[number];

type BatchColumns = RowOf<typeof batchTable>;

export interface NewBatch extends Submission, Pick<BatchColumns, (typeof SUBMITTED_BATCH_COLUMNS)[number]> {
  /** At least one; their ids sort in their order. */
  readonly jobs: readonly SubmittedJob[];
  /**
   * Most unfinished jobs that the account may have, where the store counts them (`cluster-store.ts`): the first jobs for which that leaves
   * room take their places at once. Null: none does, because others wait before them.
   */
  readonly placeLimit: number | null;
}

export interface BatchRecord extends Omit<BatchColumns, "unfinished"> {
  /** In the order of the inputs. */
  readonly jobs: readonly { readonly id: string; readonly state: JobState }[];
}

/** `created` is false if the Idempotency-Key was used before with the same body; `batch` is then that first batch in its present state. */
export interface SubmitBatchOutcome {
  readonly created: boolean;
  readonly batch: BatchRecord;
  /** So many jobs, the first ones, have a place. 0 where the store counts none. */
  readonly placed: number;
}

/** What the coordinator keeps in memory of an unfinished batch. */
export interface ActiveBatchRecord {
  readonly id: string;
  readonly failMode: FailMode;
  readonly isCancelled: boolean;
  /** One of its jobs failed or timed out. */
  readonly hasFailed: boolean;
}
