import type { JobError } from "../../../../shared/errors.ts";
import type { Timings } from "../../../../shared/output.ts";
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
  JobStore,
  NewJob,
  SubmitOutcome,
} from "../../job-store.ts";
import { MAX_INLINE_CHARS, OUTPUT_NAME, type LargeJson, type LargeRef } from "../../large-json.ts";
import { splitChunk, type SplitChunk } from "../../feed-layout.ts";
import type { Made } from "../../idempotency.ts";
import { readJobList } from "../../job-lists.ts";
import { newJobRecord } from "../../new-job-record.ts";
import type { SecretBox } from "../../secret-box.ts";
import type { BatchWriter } from "../engine/batch-writer.ts";
import type { Database } from "../engine/database.ts";
import { PostgresTx } from "../engine/postgres-steps.ts";
import { innerFromColumn, textToColumn } from "../engine/text.ts";
import type { JobArgs } from "../operations/operations.ts";
import { FeedReads } from "./feed-reads.ts";
import { InputReads } from "./input-reads.ts";
import { chunkToStore, outputToStore, piecesToStore } from "./job-args.ts";
import { ACTIVE_COLUMNS, WHOLE_COLUMNS, WHOLE_TABLES, type JobRow } from "./job-columns.ts";

export class PostgresJobStore implements JobStore {
  readonly #db: Database;
  readonly #writer: BatchWriter;
  readonly #secrets: Pick<SecretBox, "sealIn">;
  readonly #ownerId: string;
  readonly #feeds: FeedReads;
  readonly #inputs: InputReads;
  /** Of chunks that are being stored, so that each is split once. */
  readonly #splits = new WeakMap<FeedChunk, SplitChunk>();

  constructor(db: Database, writer: BatchWriter, secrets: Pick<SecretBox, "sealIn">, ownerId: string) {
    this.#db = db;
    this.#ownerId = ownerId;
    this.#writer = writer;
    this.#secrets = secrets;
    this.#feeds = new FeedReads(db);
    this.#inputs = new InputReads(db);
  }

  submit(newJob: NewJob): Promise<SubmitOutcome> {
    const { answer, inputJson, ...job } = newJob;
    return this.#db.track(async () => {
      const args = { ...job, input: inputJson, webhook: this.#secrets.sealIn(job.webhook) };
      const made = await this.#submit(answer, args);
      if (made === null) return { created: true, job: newJobRecord(newJob) };
      const first = await this.#get(made.jobId);
      if (first === undefined) throw new Error(`The job ${made.jobId} of an Idempotency-Key is not in the database`);
      return { created: false, job: first };
    });
  }

  #submit(answer: NewJob["answer"], job: JobArgs): Promise<Made | null> {
    const { accountId } = job;
    if (answer === undefined) return this.#writer.run(accountId, "submitJob", job);
    if (answer.kind === "new") {
      const question = { ...answer.question, content: textToColumn(answer.question.content) };
      return this.#writer.run(accountId, "askQuestion", { question, job });
    }
    return this.#writer.run(accountId, "askAgain", { answerId: answer.answerId, endedJobId: answer.endedJobId, job });
  }

  async findRepeat(request: Parameters<JobStore["findRepeat"]>[0]): Promise<JobRecord | undefined> {
    const { accountId, createdAtMs, idempotency } = request;
    if (idempotency === null) return undefined;
    return this.#db.track(async () => {
      const made = await this.#writer.run(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
      return made === null ? undefined : this.#get(made.jobId);
    });
  }

  accountOf(jobId: string): Promise<string | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<{ id: string }>("SELECT account_id AS id FROM jobs WHERE id = $1", [jobId]);
      return row?.id;
    });
  }

  get(jobId: string): Promise<JobRecord | undefined> {
    return this.#db.track(() => this.#get(jobId));
  }

  async #get(jobId: string): Promise<JobRecord | undefined> {
    const row = await this.#db.whileOpen((session) =>
      session.one<JobRow>(`SELECT ${WHOLE_COLUMNS} FROM ${WHOLE_TABLES} WHERE jobs.id = $1`, [jobId]),
    );
    return row === undefined ? undefined : this.#recordOf(row);
  }

  #recordOf(row: JobRow): JobRecord {
    const { promptTokens, completionTokens, timings, error, ignoredParameters, ...more } = row;
    const { input, output, largeChars, text, ...rest } = more;
    return {
      ...rest,
      input: input === null ? {} : (JSON.parse(input) as JobInput),
      output:
        largeChars !== null
          ? this.#feeds.large(row.id, { name: OUTPUT_NAME, chars: largeChars })
          : output !== null
            ? (JSON.parse(output) as unknown)
            : text === null
              ? undefined
              : innerFromColumn(text),
      usage: promptTokens === null || completionTokens === null ? null : { promptTokens, completionTokens },
      timings: timings === null ? null : (JSON.parse(timings) as Timings),
      error: error === null ? null : (JSON.parse(error) as JobError),
      ignoredParameters: ignoredParameters === null ? [] : (JSON.parse(ignoredParameters) as string[]),
    };
  }

  input(jobId: string): Promise<JobInput> {
    return this.#inputs.read(jobId);
  }

  list(...args: Parameters<JobStore["list"]>): ReturnType<JobStore["list"]> {
    return this.#db.use((session) => readJobList(new PostgresTx(session, ""), ...args));
  }

  unfinished(part?: Parameters<JobStore["unfinished"]>[0]): Promise<ActiveJobRecord[]> {
    const { accountId, id } = part?.after ?? { accountId: "", id: "" };
    return this.#db.untilDone((session) =>
      session.all<ActiveJobRecord>(
        `SELECT ${ACTIVE_COLUMNS} FROM jobs WHERE completed_at_ms IS NULL AND owner_id = $4 AND (account_id, id) > ($1, $2)
         ORDER BY account_id, id LIMIT $3`,
        [accountId, id, part?.limit ?? null, this.#ownerId],
      ),
    );
  }

  move(move: JobMove): Promise<void> {
    return this.#db.track(async () => void (await this.#writer.run(move.jobId, "moveJob", move)));
  }

  end({ output, timings, error, lastChunk, ...ending }: JobEnding): ReturnType<JobStore["end"]> {
    const json = ending.event === "complete" && output !== undefined ? JSON.stringify(output) : null;
    const { pieces, ...stored } = outputToStore(json);
    const split = lastChunk === undefined ? null : this.#splitOf(lastChunk);
    return this.#db.track(async () => {
      const dueWebhookIds = await this.#writer.run(ending.jobId, "endJob", {
        ...ending,
        ...stored,
        timings: timings === null ? null : JSON.stringify(timings),
        error: error === null ? null : JSON.stringify(error),
        lastChunk: lastChunk === undefined || split === null ? null : chunkToStore(lastChunk, split),
        pieces: [...pieces, ...piecesToStore(split?.large ?? [])],
      });
      if (json === null) return { dueWebhookIds };
      const isLarge = json.length > MAX_INLINE_CHARS;
      const ref = { name: OUTPUT_NAME, chars: json.length };
      return { dueWebhookIds, output: isLarge ? this.#feeds.large(ending.jobId, ref) : output };
    });
  }

  appendFeed(chunk: FeedChunk): Promise<void> {
    const { jobId } = chunk;
    const split = this.#splitOf(chunk);
    const args = { jobId, ...chunkToStore(chunk, split), pieces: piecesToStore(split.large) };
    return this.#db.track(async () => void (await this.#writer.run(jobId, "appendFeed", args)));
  }

  large(jobId: string, ref: LargeRef): LargeJson {
    return this.#feeds.large(jobId, ref);
  }

  storedItems(chunk: FeedChunk, appended: Promise<void>): readonly FeedItem[] {
    return this.#feeds.storedItems(chunk.jobId, this.#splitOf(chunk).items, appended);
  }

  #splitOf(chunk: FeedChunk): SplitChunk {
    const split = this.#splits.get(chunk) ?? splitChunk(chunk);
    this.#splits.set(chunk, split);
    return split;
  }

  feed(jobId: string): Promise<readonly FeedPart[]> {
    return this.#feeds.parts(jobId);
  }

  feedProgress(jobId: string, attempt: number): Promise<FeedProgress> {
    return this.#feeds.progress(jobId, attempt);
  }

  completionsSince(sinceMs: number): Promise<ReadonlyMap<string, number>> {
    return this.#db.use(async (session) => {
      const rows = await session.all<{ slug: string; count: number }>(
        `SELECT slug, count(*) FROM jobs WHERE state = 'completed' AND completed_at_ms >= $1 AND completed_at_ms IS NOT NULL
         GROUP BY slug`,
        [sinceMs],
      );
      return new Map(rows.map(({ slug, count }) => [slug, count]));
    });
  }
}
