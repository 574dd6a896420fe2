import { charsOf, isModelItem } from "../../../shared/output.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Opened } from "../steps/steps.ts";
import type { RowOf } from "../steps/table.ts";
import { REFUSALS } from "../refusals.ts";
import {
  feedItemOf,
  foldItems,
  itemsOf,
  splitChunk,
  type SplitChunk,
  type StoredChunkRow,
  type StoredItem,
  unfoldFeed,
} from "./feed-layout.ts";
import type { ChunkToWrite, JobToWrite, RunHotWrite } from "./hot-writes.ts";
import type { Made } from "./idempotency.ts";
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
  SubmitOutcome,
} from "./job-store.ts";
import { INTERNAL_COLUMNS, jobTable, SUBMITTED_COLUMNS } from "./job-tables.ts";
import { LargeJson, type LargeRef, MAX_INLINE_CHARS, OUTPUT_NAME, piecesToWrite } from "./large-json.ts";

/** More unfinished jobs than there can be. */
const ALL_JOBS = 2 ** 31;

export type JobStore = ReturnType<typeof openJobs>;

export function openJobs(reads: Opened<typeof jobReads>, write: RunHotWrite, secrets: Pick<SecretBox, "sealIn">) {
  const readInput = shareInputReads(reads.inputs);
  /** Of chunks that are being stored, so that each is split once. */
  const splits = new WeakMap<FeedChunk, SplitChunk>();

  const splitOf = (chunk: FeedChunk): SplitChunk => {
    let split = splits.get(chunk);
    if (split === undefined) {
      split = splitChunk(chunk);
      splits.set(chunk, split);
    }
    return split;
  };
  const chunkToWrite = (chunk: FeedChunk): ChunkToWrite => {
    const { layout, text } = foldItems(splitOf(chunk).items);
    return { attempt: chunk.attempt, seq: chunk.seq, items: layout, text };
  };

  /** A large value of a job, which may be stored by another coordinator. Reads nothing by itself. `written`: resolves when it can be read. */
  const large = (jobId: string, { name, chars }: LargeRef, written?: Promise<unknown>): LargeJson => {
    const readPiece = async (piece: number): Promise<string | undefined> => {
      await written;
      return reads.largePiece(jobId, name, piece);
    };
    return new LargeJson(chars, readPiece, { name, written });
  };

  const get = async (jobId: string): Promise<JobRecord | undefined> => {
    const row = await reads.get(jobId);
    return row && jobOf(row, (chars) => large(jobId, { name: OUTPUT_NAME, chars }));
  };

  const submit = (answer: NewJob["answer"], job: JobToWrite): Promise<Made | null> => {
    const { accountId } = job;
    if (answer === undefined) return write(accountId, "submitJob", job);
    if (answer.kind === "new") return write(accountId, "askQuestion", { question: answer.question, job });
    return write(accountId, "askAgain", { answerId: answer.answerId, endedJobId: answer.endedJobId, job });
  };

  return {
    /**
     * Stores the job, with its first attempt if it has one, its postings and the answer that it makes, in one commit. Returns it as it
     * was submitted, `pending`.
     * @throws {ServiceError} `idempotency_conflict` if the key was used within 24 h with another body; for an answer `not_found`, and
     *   `conversation_busy` if an answer is in progress or a message follows `afterMessageId`; then the refusal of the postings
     *   (`refusalOf`): `not_found`, `insufficient_credits`; {@link KeyCreditsError}. {@link RateLimitedError} if the account has `maxJobs`
     *   already. Nothing is stored.
     */
    async submit(newJob: NewJob): Promise<SubmitOutcome> {
      const { answer, inputJson, ...job } = newJob;
      const made = await submit(answer, { ...job, input: inputJson, webhook: secrets.sealIn(job.webhook) });
      if (made === null) return { created: true, job: newJobRecord(newJob) };
      const first = await get(made.jobId);
      if (first === undefined) throw new Error(`The job ${made.jobId} of an Idempotency-Key is not in the database`);
      return { created: false, job: first };
    },

    /**
     * The job that the first request with this Idempotency-Key made; undefined for a new key or without one. It sees every submission
     * that was called before it. @throws {ServiceError} `idempotency_conflict`.
     */
    async findRepeat({
      accountId,
      createdAtMs,
      idempotency,
    }: Pick<NewJob, "accountId" | "createdAtMs" | "idempotency">): Promise<JobRecord | undefined> {
      if (idempotency === null) return undefined;
      const made = await write(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
      return made === null ? undefined : get(made.jobId);
    },

    /** Account of the job; undefined for an unknown id. Does not read the job. */
    accountOf: reads.accountOf,

    /** The whole job; undefined for an unknown id. */
    get,

    /** The input alone. @throws {ServiceError} `not_found`. */
    input: readInput,

    list: reads.list,

    /** Jobs that have not ended, by account, oldest first: every one, or at most `limit` of those that follow `after`. */
    async unfinished(part?: {
      readonly after: Pick<ActiveJobRecord, "accountId" | "id"> | null;
      readonly limit: number;
    }): Promise<ActiveJobRecord[]> {
      const after = part?.after ?? { accountId: "", id: "" };
      return shareTexts(await reads.unfinished(after, part?.limit ?? ALL_JOBS));
    },

    /** @throws {IllegalTransitionError} if state or attempt do not allow it; nothing changes. */
    async move(move: JobMove): Promise<void> {
      await write(move.jobId, "moveJob", move);
    },

    /**
     * Ends the job, folds its feed, stores its postings and makes webhooks due, in one commit: the job's own, and its batch's if this was
     * its last job. `output`: as `get` would give it; undefined for the text of the feed.
     * @throws {IllegalTransitionError} if state or attempt do not allow it; nothing changes.
     */
    async end({
      output,
      timings,
      error,
      lastChunk,
      ...ending
    }: JobEnding): Promise<{ readonly dueWebhookIds: readonly string[]; readonly output?: unknown }> {
      const json = ending.event === "complete" && output !== undefined ? JSON.stringify(output) : null;
      const pieces = lastChunk === undefined ? [] : splitOf(lastChunk).large.flatMap(piecesToWrite);
      const isLarge = json !== null && json.length > MAX_INLINE_CHARS;
      const dueWebhookIds = await write(ending.jobId, "endJob", {
        ...ending,
        output: isLarge ? "" : json,
        largeChars: isLarge ? json.length : null,
        pieces: isLarge ? [...piecesToWrite({ name: OUTPUT_NAME, json }), ...pieces] : pieces,
        timings: timings === null ? null : JSON.stringify(timings),
        error: error === null ? null : JSON.stringify(error),
        lastChunk: lastChunk === undefined ? null : chunkToWrite(lastChunk),
      });
      if (json === null) return { dueWebhookIds };
      const stored = isLarge ? large(ending.jobId, { name: OUTPUT_NAME, chars: json.length }) : output;
      return { dueWebhookIds, output: stored };
    },

    /** Appends to the job's feed. A chunk whose (attempt, seq) is already stored changes nothing. @throws {ServiceError} `not_found`. */
    async appendFeed(chunk: FeedChunk): Promise<void> {
      const { jobId } = chunk;
      const pieces = splitOf(chunk).large.flatMap(piecesToWrite);
      await write(jobId, "appendFeed", { jobId, ...chunkToWrite(chunk), pieces });
    },

    /** The items of a chunk as `feed` gives them. What is large can be read once `appended` has resolved. Reads nothing by itself. */
    storedItems: (chunk: FeedChunk, appended: Promise<void>): readonly FeedItem[] =>
      splitOf(chunk).items.map((item) => feedItemOf(item, (ref) => large(chunk.jobId, ref, appended))),

    large: (jobId: string, ref: LargeRef): LargeJson => large(jobId, ref),

    /** The whole feed in order, item for item also after the job's end. Empty for an unknown job. */
    async feed(jobId: string): Promise<readonly FeedPart[]> {
      const chunks = await reads.feedChunks(jobId);
      // After the chunks: the end of the job replaces them by this row.
      const folded = await reads.foldedFeed(jobId);
      const parts =
        folded === undefined
          ? chunks.map((row) => ({ attempt: row.attempt, items: itemsOf(row) }))
          : unfoldFeed({ layout: folded.layout, text: folded.text ?? "" });
      return parts.map(({ attempt, items }) => ({
        attempt,
        items: items.map((item) => feedItemOf(item, (ref) => large(jobId, ref))),
      }));
    },

    /** How far the feed of an unfinished job has come. `attempt`: the present one. */
    feedProgress: async (jobId: string, attempt: number): Promise<FeedProgress> =>
      progressOf(await reads.feedChunks(jobId), attempt),

    /** Number of jobs completed at or after `sinceMs`, by slug. */
    completionsSince: reads.completionsSince,
  };
}

type Submitted = Pick<NewJob, (typeof SUBMITTED_COLUMNS)[number]>;
type Unset<R> = { readonly [K in keyof R as null extends R[K] ? K : never]: null };

/** The columns that a read gives, without a value. */
const UNSET = Object.fromEntries(
  jobTable.membersBut(...INTERNAL_COLUMNS, "promptTokens", "completionTokens").map((member) => [member, null]),
) as unknown as Omit<Unset<RowOf<typeof jobTable>>, "promptTokens" | "completionTokens">;

/** A job right after its submission: equal to what {@link jobOf} would read. */
function newJobRecord(job: NewJob): JobRecord {
  const columns: Record<string, unknown> = { ...UNSET };
  for (const member of SUBMITTED_COLUMNS) columns[member] = job[member];
  return {
    ...(columns as typeof UNSET & Submitted),
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

/** `openLarge` makes what reads a large output of so many characters. */
function jobOf(row: JobRow, openLarge: (chars: number) => LargeJson): JobRecord {
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

/** A start reads 100,000 jobs: the accounts and Cargos that they have in common are in memory once. */
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

/** How far a feed has come, by its chunks in order. `attempt`: the present one. */
function progressOf(rows: Iterable<StoredChunkRow>, attempt: number): FeedProgress {
  const sum = { items: 0, tokens: 0, bytes: 0, largeBytes: 0 };
  const outputs: { attempt: number; count: number }[] = [];
  let [hasOther, hasText] = [false, false];
  let lastSeq = 0;
  for (const row of rows) {
    if (row.attempt === attempt) lastSeq = Math.max(lastSeq, row.seq ?? 0);
    for (const item of itemsOf(row)) {
      sum.items += 1;
      if (item.type === "status") continue;
      if (isModelItem(item)) sum.tokens += item.count;
      const size = sizeOf(item);
      sum.bytes += size.bytes;
      sum.largeBytes += size.largeBytes;
      hasOther ||= item.type !== "token" && item.type !== "progress";
      hasText ||= item.type === "token" && item.content !== "";
      const last = outputs.at(-1);
      if (last?.attempt === row.attempt) last.count += 1;
      else outputs.push({ attempt: row.attempt, count: 1 });
    }
  }
  return { ...sum, outputs, hasOutput: hasOther || hasText, hasText, lastSeq };
}

function sizeOf(item: StoredItem): { readonly bytes: number; readonly largeBytes: number } {
  if (isModelItem(item)) return { bytes: charsOf(item), largeBytes: 0 };
  if (item.type !== "image") return { bytes: 0, largeBytes: 0 };
  return "large" in item ? { bytes: 0, largeBytes: item.large.chars } : { bytes: item.data.length, largeBytes: 0 };
}

/** Queries at a time; what is asked for meanwhile shares the next one. */
const MAX_QUERIES = 2;
const MAX_INPUTS = 64;

interface Asked {
  readonly jobId: string;
  readonly resolve: (input: JobInput) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads the inputs of jobs that begin, those of several jobs with one query: Islands with many slots begin as many jobs at once. The
 * function that it returns throws {ServiceError} `not_found` for an unknown job, and one whose input was removed.
 * @param query Reads inputs as JSON, by job.
 */
export function shareInputReads(
  query: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): (jobId: string) => Promise<JobInput> {
  const waiting: Asked[] = [];
  let queries = 0;

  const readPart = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const inputs = await query(asked.map(({ jobId }) => jobId));
      for (const { jobId, resolve, reject } of asked) {
        const input = inputs.get(jobId);
        if (input === undefined) reject(REFUSALS.no_job());
        else resolve(JSON.parse(input) as JobInput);
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  const readAsked = async (): Promise<void> => {
    if (queries >= MAX_QUERIES) return;
    queries += 1;
    while (waiting.length > 0) {
      // oxlint-disable-next-line no-await-in-loop -- One query after the other.
      await readPart(waiting.splice(0, MAX_INPUTS));
    }
    queries -= 1;
  };

  return (jobId) =>
    new Promise((resolve, reject) => {
      waiting.push({ jobId, resolve, reject });
      // In a microtask, so that the calls of one turn share a query.
      queueMicrotask(() => void readAsked());
    });
}
