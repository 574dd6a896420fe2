import { charsOf, isModelItem } from "../../../shared/output.ts";
import { isVisibleItem } from "../../../shared/visible-text.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Opened } from "../steps/steps.ts";
import { pick, type RowOf } from "../steps/table.ts";
import { REFUSALS } from "../refusals.ts";
import {
  feedItemOf,
  foldItems,
  splitChunk,
  type SplitChunk,
  type StoredChunkRow,
  type StoredItem,
  unfoldFeed,
  unfoldItems,
} from "./feed-layout.ts";
import { findRepeat, type ChunkToWrite, type JobToWrite, type RunHotWrite } from "./hot-writes.ts";
import type { KeyedRequest, FirstRequest } from "./idempotency.ts";
import type { jobReads, JobRow } from "./job-reads.ts";
import type {
  ActiveJobRecord,
  FeedChunk,
  FeedItem,
  FeedPart,
  FeedProgress,
  JobEnding,
  JobInput,
  JobMove,
  JobRecord,
  NewJob,
} from "./job-store.ts";
import { INTERNAL_COLUMNS, jobTable, SUBMITTED_COLUMNS } from "./job-tables.ts";
import { LargeJson, type LargeRef, MAX_INLINE_CHARS, OUTPUT_NAME, splitLarge } from "./large-json.ts";

/** LIMIT above any possible number of unfinished jobs. */
const ALL_JOBS = 2 ** 31;

export type JobStore = ReturnType<typeof openJobs>;

export function openJobs(reads: Opened<typeof jobReads>, write: RunHotWrite, secrets: Pick<SecretBox, "sealIn">) {
  /** Results of `splitChunk` for chunks that are being stored, so that each chunk is split once. */
  const splits = new WeakMap<FeedChunk, SplitChunk>();

  const splitOf = (chunk: FeedChunk): SplitChunk => {
    const split = splits.get(chunk) ?? splitChunk(chunk);
    splits.set(chunk, split);
    return split;
  };
  const chunkToWrite = (chunk: FeedChunk): ChunkToWrite => {
    const { layout, text } = foldItems(splitOf(chunk).items);
    return { attempt: chunk.attempt, seq: chunk.seq, items: layout, text };
  };

  /** Returns a reader of a large value. `written`: resolves when the value can be read. */
  const large = (jobId: string, { name, chars }: LargeRef, written?: Promise<unknown>): LargeJson => {
    const readPiece = async (piece: number): Promise<string | undefined> => {
      await written;
      return reads.largePiece(jobId, name, piece);
    };
    return new LargeJson(chars, readPiece, { name, written });
  };

  const get = async (jobId: string): Promise<JobRecord | undefined> => {
    const row = await reads.get(jobId);
    return row && parseJob(row, (chars) => large(jobId, { name: OUTPUT_NAME, chars }));
  };

  const submit = (answer: NewJob["answer"], job: JobToWrite): Promise<FirstRequest | null> => {
    const { accountId } = job;
    if (answer === undefined) return write(accountId, "submitJob", job);
    if (answer.kind === "new") return write(accountId, "askQuestion", { question: answer.question, job });
    return write(accountId, "askAgain", { answerId: answer.answerId, endedJobId: answer.endedJobId, job });
  };

  return {
    /**
     * Stores the job and its postings in one commit, with its first attempt if assigned and its answer in a
     * conversation. Returns the job as submitted, `pending`. With `created: false` the Idempotency-Key was already used
     * with the same body, and `job` is that first job.
     * @throws {ServiceError} `idempotency_conflict` if the key was used within 24 h with another body; for an answer
     *   `not_found`, and `conversation_busy` if an answer is in progress or a message follows `afterMessageId`; the
     *   refusal of the postings (`refusalOf`): `not_found`, `insufficient_credits`.
     * @throws {KeyCreditsError} if the API key's monthly limit is exceeded.
     * @throws {RateLimitedError} if the account already has `maxJobs` unfinished jobs.
     */
    async submit(newJob: NewJob): Promise<{ created: boolean; job: JobRecord }> {
      const { answer, inputJson, ...job } = newJob;
      const made = await submit(answer, { ...job, input: inputJson, webhook: secrets.sealIn(job.webhook) });
      if (made === null) return { created: true, job: newJobRecord(newJob) };
      const first = await get(made.jobId);
      if (first === undefined) throw new Error(`Job ${made.jobId} of an Idempotency-Key is missing from the database`);
      return { created: false, job: first };
    },

    /**
     * Returns the job that the first request with this Idempotency-Key created; undefined without a key, or if no job
     * is stored for it. Includes every submission that was made before the call.
     * @throws {ServiceError} `idempotency_conflict`.
     */
    async findRepeat(request: KeyedRequest): Promise<JobRecord | undefined> {
      const made = await findRepeat(write, request);
      return made === null ? undefined : get(made.jobId);
    },

    accountOf: reads.accountOf,

    get,

    /** Returns the input of a job. @throws {ServiceError} `not_found`. */
    input: shareInputReads(reads.inputs),

    list: reads.list,

    /** Returns unfinished jobs ordered by account and id: all, or at most `limit` of those after `after`. */
    async unfinished(part?: {
      readonly after: Pick<ActiveJobRecord, "accountId" | "id"> | null;
      readonly limit: number;
    }): Promise<ActiveJobRecord[]> {
      const after = part?.after ?? { accountId: "", id: "" };
      return shareTexts(await reads.unfinished(after, part?.limit ?? ALL_JOBS));
    },

    /** Stores a move. @throws {IllegalTransitionError} if state or attempt do not allow the move; nothing changes. */
    async move(move: JobMove): Promise<void> {
      await write(move.jobId, "moveJob", move);
    },

    /**
     * Ends the job, folds its feed, stores its postings and makes its webhook due, in one commit. The last job of a
     * batch also makes the batch's webhook due. Resolves with the `output` that `get` will return; undefined for the
     * text of the feed.
     * @throws {IllegalTransitionError} if state or attempt do not allow the end; nothing changes.
     */
    async end({ output, timings, error, lastChunk, ...ending }: JobEnding): Promise<{
      readonly dueWebhookIds: readonly string[];
      readonly output?: unknown;
    }> {
      const json = ending.event === "complete" && output !== undefined ? JSON.stringify(output) : null;
      const pieces = lastChunk === undefined ? [] : splitOf(lastChunk).large.flatMap(splitLarge);
      const isLarge = json !== null && json.length > MAX_INLINE_CHARS;
      const dueWebhookIds = await write(ending.jobId, "endJob", {
        ...ending,
        output: isLarge ? "" : json,
        largeChars: isLarge ? json.length : null,
        pieces: isLarge ? [...splitLarge({ name: OUTPUT_NAME, json }), ...pieces] : pieces,
        timings: timings === null ? null : JSON.stringify(timings),
        error: error === null ? null : JSON.stringify(error),
        lastChunk: lastChunk === undefined ? null : chunkToWrite(lastChunk),
      });
      if (json === null) return { dueWebhookIds };
      const ref = { name: OUTPUT_NAME, chars: json.length };
      return { dueWebhookIds, output: isLarge ? large(ending.jobId, ref) : output };
    },

    /** Appends a chunk. No-op if its (attempt, seq) is already stored. @throws {ServiceError} `not_found`. */
    async appendFeed(chunk: FeedChunk): Promise<void> {
      const { jobId } = chunk;
      const pieces = splitOf(chunk).large.flatMap(splitLarge);
      await write(jobId, "appendFeed", { jobId, ...chunkToWrite(chunk), pieces });
    },

    /** Returns the items as `feed` would, without a read. Large values can be read once `appended` has resolved. */
    storedItems: (chunk: FeedChunk, appended: Promise<void>): readonly FeedItem[] =>
      splitOf(chunk).items.map((item) => feedItemOf(item, (ref) => large(chunk.jobId, ref, appended))),

    large: (jobId: string, ref: LargeRef): LargeJson => large(jobId, ref),

    /** Returns the feed of a job, which is the same before and after the job's end; empty for an unknown job. */
    async feed(jobId: string): Promise<readonly FeedPart[]> {
      const chunks = await reads.feedChunks(jobId);
      // This is read after the chunks: the end of the job replaces the chunks by this row.
      const folded = await reads.foldedFeed(jobId);
      const parts =
        folded === undefined
          ? chunks.map((row) => ({ attempt: row.attempt, items: unfoldItems(row) }))
          : unfoldFeed({ layout: folded.layout, text: folded.text ?? "" });
      return parts.map(({ attempt, items }) => ({
        attempt,
        items: items.map((item) => feedItemOf(item, (ref) => large(jobId, ref))),
      }));
    },

    feedProgress: async (jobId: string, attempt: number): Promise<FeedProgress> =>
      measureFeed(await reads.feedChunks(jobId), attempt),

    completionsSince: reads.completionsSince,
  };
}

type Unset<R> = { readonly [K in keyof R as null extends R[K] ? K : never]: null };

/** A job row with every column null, for columns that a new job does not set. */
const UNSET = Object.fromEntries(
  jobTable.membersBut(...INTERNAL_COLUMNS, "promptTokens", "completionTokens").map((member) => [member, null]),
) as unknown as Omit<Unset<RowOf<typeof jobTable>>, "promptTokens" | "completionTokens">;

/** Builds the record that {@link parseJob} would return right after the submission. */
function newJobRecord(job: NewJob): JobRecord {
  return {
    ...UNSET,
    ...pick(job, SUBMITTED_COLUMNS),
    state: "pending",
    share: job.share,
    attempt: 0,
    refusals: 0,
    input: job.input,
    output: undefined,
    usage: null,
    creditsUsedMicro: 0,
    webhookId: job.webhook?.id ?? null,
  };
}

/** Parses a job row. `openLarge` returns a reader of a large output with that many characters. */
function parseJob(row: JobRow, openLarge: (chars: number) => LargeJson): JobRecord {
  const { promptTokens, completionTokens, input, output, largeChars, text, ...rest } = row;
  return {
    ...rest,
    input: input === null ? {} : (JSON.parse(input) as JobInput),
    output:
      largeChars !== null
        ? openLarge(largeChars)
        : output !== null
          ? (JSON.parse(output) as unknown)
          : (text ?? undefined),
    usage: promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens },
  };
}

/** Makes equal strings share memory: a start reads 100,000 jobs with few different accounts and Cargos. */
function shareTexts(jobs: ActiveJobRecord[]): ActiveJobRecord[] {
  const texts = new Map<string, string>();
  const shared = (text: string): string => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
  for (const job of jobs) Object.assign(job, { accountId: shared(job.accountId), slug: shared(job.slug) });
  return jobs;
}

function measureFeed(rows: Iterable<StoredChunkRow>, attempt: number): FeedProgress {
  const sum = { items: 0, tokens: 0, bytes: 0, largeBytes: 0 };
  const outputs: { attempt: number; count: number }[] = [];
  let [hasOther, hasText, hasVisible] = [false, false, false];
  let lastSeq = 0;
  for (const row of rows) {
    if (row.attempt === attempt) lastSeq = Math.max(lastSeq, row.seq ?? 0);
    for (const item of unfoldItems(row)) {
      sum.items += 1;
      if (item.type === "status") continue;
      if (isModelItem(item)) sum.tokens += item.count;
      const size = sizeOf(item);
      sum.bytes += size.bytes;
      sum.largeBytes += size.largeBytes;
      hasOther ||= item.type !== "token" && item.type !== "progress";
      hasText ||= item.type === "token" && item.content !== "";
      hasVisible ||= isVisibleItem(item);
      const last = outputs.at(-1);
      if (last?.attempt === row.attempt) last.count += 1;
      else outputs.push({ attempt: row.attempt, count: 1 });
    }
  }
  return { ...sum, outputs, hasOutput: hasOther || hasText, hasText, hasVisible, lastSeq };
}

function sizeOf(item: StoredItem): { readonly bytes: number; readonly largeBytes: number } {
  if (isModelItem(item)) return { bytes: charsOf(item), largeBytes: 0 };
  if (item.type !== "image") return { bytes: 0, largeBytes: 0 };
  return "large" in item ? { bytes: 0, largeBytes: item.large.chars } : { bytes: item.data.length, largeBytes: 0 };
}

/** Maximum number of concurrent queries for inputs; requests beyond share the next query. */
const MAX_QUERIES = 2;
/** Maximum number of inputs per query. */
const MAX_INPUTS = 64;

interface InputRequest {
  readonly jobId: string;
  readonly resolve: (input: JobInput) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that reads the input of a job. Requests of the same tick share a query, because Islands with many
 * slots start many jobs at once. It rejects with {ServiceError} `not_found` for an unknown job or a removed input.
 * @param query reads inputs as JSON by job id.
 */
export function shareInputReads(
  query: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): (jobId: string) => Promise<JobInput> {
  const waiting: InputRequest[] = [];
  let queries = 0;

  const readPart = async (requests: readonly InputRequest[]): Promise<void> => {
    try {
      const inputs = await query(requests.map(({ jobId }) => jobId));
      for (const { jobId, resolve, reject } of requests) {
        const input = inputs.get(jobId);
        if (input === undefined) reject(REFUSALS.no_job());
        else resolve(JSON.parse(input) as JobInput);
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  };

  const readWaiting = async (): Promise<void> => {
    if (queries >= MAX_QUERIES) return;
    queries += 1;
    while (waiting.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- One query at a time.
      await readPart(waiting.splice(0, MAX_INPUTS));
    }
    queries -= 1;
  };

  return (jobId) =>
    new Promise((resolve, reject) => {
      waiting.push({ jobId, resolve, reject });
      // The read starts in a microtask, so that all calls of this tick share its query.
      queueMicrotask(() => void readWaiting());
    });
}
