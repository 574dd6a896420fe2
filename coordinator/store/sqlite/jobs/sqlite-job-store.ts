import type Database from "better-sqlite3";
import type {
  FeedChunk,
  FeedItem,
  FeedPart,
  FeedProgress,
  JobEnding,
  JobInput,
  JobMove,
  JobRecord,
  JobStore,
  ActiveJobRecord,
  NewJob,
  SubmitOutcome,
} from "../../job-store.ts";
import { MAX_INLINE_CHARS, OUTPUT_NAME, type LargeJson, type LargeRef } from "../../large-json.ts";
import { REFUSALS } from "../../refusals.ts";
import type { JobOperations } from "./job-operations.ts";
import { foldItems, splitChunk, type SplitChunk } from "../../feed-layout.ts";
import type { ChunkRow } from "./feed-operations.ts";
import { FeedReads } from "./feed-reads.ts";
import { LISTED, UNLISTED } from "./job-listing.ts";
import { newJobRecord } from "../../new-job-record.ts";
import {
  activeJobOf,
  jobOf,
  ACTIVE_COLUMNS,
  WHOLE_COLUMNS,
  WHOLE_TABLES,
  type ActiveJobRow,
  type JobRow,
} from "./job-rows.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";
import type { SecretBox } from "../../secret-box.ts";

export class SqliteJobStore implements JobStore {
  readonly #reader: Pick<Reader, "runStep">;
  readonly #writer: Writer;
  readonly #secrets: Pick<SecretBox, "sealIn">;
  readonly #selectAccount: Database.Statement<[string], string>;
  readonly #selectJob: Database.Statement<[string], JobRow>;
  readonly #selectInput: Database.Statement<[string], string>;
  readonly #selectUnfinished: Database.Statement<[accountId: string, id: string, limit: number], ActiveJobRow>;
  readonly #selectShare: Database.Statement<[accountId: string], number | null>;
  readonly #feeds: FeedReads;
  /** Of chunks that are being stored, so that each is split once. */
  readonly #splits = new WeakMap<FeedChunk, SplitChunk>();
  readonly #selectCompletions: Database.Statement<[{ sinceMs: number }], [string, number]>;

  constructor(
    db: Database.Database,
    reader: Pick<Reader, "runStep">,
    writer: Writer,
    secrets: Pick<SecretBox, "sealIn">,
  ) {
    this.#reader = reader;
    this.#writer = writer;
    this.#secrets = secrets;
    this.#selectAccount = db.prepare<[string], string>("SELECT account_id FROM jobs WHERE id = ?").pluck();
    this.#selectJob = db.prepare(`SELECT ${WHOLE_COLUMNS} FROM ${WHOLE_TABLES} WHERE jobs.id = ?`);
    this.#selectInput = db.prepare<[string], string>("SELECT input FROM job_inputs WHERE job_id = ?").pluck();
    this.#selectUnfinished = db.prepare(
      `SELECT ${ACTIVE_COLUMNS} FROM jobs INDEXED BY jobs_live
       WHERE completed_at_ms IS NULL AND (account_id, id) > (?, ?) ORDER BY account_id, id LIMIT ?`,
    );
    this.#selectShare = db.prepare<[string], number | null>("SELECT share FROM accounts WHERE id = ?").pluck();
    this.#feeds = new FeedReads(db);
    this.#selectCompletions = db
      .prepare<[{ sinceMs: number }], [string, number]>(
        `SELECT slug, count(*) FROM (
           SELECT slug FROM jobs INDEXED BY jobs_ended WHERE ${LISTED} AND state = 'completed' AND completed_at_ms >= @sinceMs
           UNION ALL
           SELECT slug FROM jobs INDEXED BY jobs_unlisted WHERE ${UNLISTED} AND state = 'completed' AND completed_at_ms >= @sinceMs
         ) GROUP BY slug`,
      )
      .raw();
  }

  async submit(newJob: NewJob): Promise<SubmitOutcome> {
    const { answer, inputJson, ...job } = newJob;
    const args = { ...job, input: inputJson, webhook: this.#secrets.sealIn(job.webhook) };
    const firstId = await this.#submit(answer, args);
    if (firstId === null) return { created: true, job: newJobRecord(newJob) };
    const first = await this.get(firstId);
    if (first === undefined) throw new Error(`The job ${firstId} of an Idempotency-Key is missing from the database`);
    return { created: false, job: first };
  }

  #submit(answer: NewJob["answer"], job: Parameters<JobOperations["submitJob"]>[0]): Promise<string | null> {
    if (answer === undefined) return this.#writer.run("submitJob", job);
    if (answer.kind === "new") return this.#writer.run("askQuestion", { question: answer.question, job });
    return this.#writer.run("askAgain", { answerId: answer.answerId, endedJobId: answer.endedJobId, job });
  }

  async findRepeat(request: Parameters<JobStore["findRepeat"]>[0]): Promise<JobRecord | undefined> {
    const { accountId, createdAtMs, idempotency } = request;
    if (idempotency === null) return undefined;
    const made = await this.#writer.run("findRepeat", { accountId, createdAtMs, idempotency });
    return made === null ? undefined : this.get(made.jobId);
  }

  async accountOf(jobId: string): Promise<string | undefined> {
    return this.#selectAccount.get(jobId);
  }

  async get(jobId: string): Promise<JobRecord | undefined> {
    const row = this.#selectJob.get(jobId);
    return row === undefined
      ? undefined
      : jobOf(row, (chars) => this.#feeds.large(jobId, { name: OUTPUT_NAME, chars }));
  }

  async input(jobId: string): Promise<JobInput> {
    const text = this.#selectInput.get(jobId);
    if (text === undefined) throw REFUSALS.no_job();
    return JSON.parse(text) as JobInput;
  }

  list(...args: Parameters<JobStore["list"]>): ReturnType<JobStore["list"]> {
    return this.#reader.runStep("jobLists.list", args) as ReturnType<JobStore["list"]>;
  }

  async unfinished(part?: Parameters<JobStore["unfinished"]>[0]): Promise<ActiveJobRecord[]> {
    const { accountId, id } = part?.after ?? { accountId: "", id: "" };
    const accounts = new Map<string, Pick<ActiveJobRecord, "accountId" | "share">>();
    const slugs = new Map<string, string>();
    return this.#selectUnfinished.all(accountId, id, part?.limit ?? -1).map((row) => {
      let account = accounts.get(row.accountId);
      if (account === undefined) {
        account = { accountId: row.accountId, share: this.#selectShare.get(row.accountId) ?? null };
        accounts.set(row.accountId, account);
      }
      const slug = slugs.get(row.slug);
      if (slug === undefined) slugs.set(row.slug, row.slug);
      return activeJobOf(row, account, slug ?? row.slug);
    });
  }

  move(move: JobMove): Promise<void> {
    return this.#writer.run("moveJob", move);
  }

  async end({
    output,
    timings,
    error,
    lastChunk,
    ...ending
  }: JobEnding): Promise<Awaited<ReturnType<JobStore["end"]>>> {
    const json = ending.event === "complete" && output !== undefined ? JSON.stringify(output) : null;
    const dueWebhookIds = await this.#writer.run("endJob", {
      ...ending,
      output: json,
      timings: timings === null ? null : JSON.stringify(timings),
      error: error === null ? null : JSON.stringify(error),
      lastChunk: lastChunk === undefined ? null : this.#rowOf(lastChunk),
    });
    if (json === null) return { dueWebhookIds };
    const isLarge = json.length > MAX_INLINE_CHARS;
    const ref = { name: OUTPUT_NAME, chars: json.length };
    return { dueWebhookIds, output: isLarge ? this.#feeds.large(ending.jobId, ref) : output };
  }

  async appendFeed(chunk: FeedChunk): Promise<void> {
    await this.#writer.run("appendFeed", { jobId: chunk.jobId, ...this.#rowOf(chunk) });
  }

  large(jobId: string, ref: LargeRef): LargeJson {
    return this.#feeds.large(jobId, ref);
  }

  storedItems(chunk: FeedChunk, appended: Promise<void>): readonly FeedItem[] {
    return this.#feeds.storedItems(chunk.jobId, this.#splitOf(chunk).items, appended);
  }

  #rowOf(chunk: FeedChunk): ChunkRow {
    const { attempt, seq } = chunk;
    const { items, large } = this.#splitOf(chunk);
    const { layout, text } = foldItems(items);
    return { attempt, seq, items: layout, text, large };
  }

  #splitOf(chunk: FeedChunk): SplitChunk {
    const split = this.#splits.get(chunk) ?? splitChunk(chunk);
    this.#splits.set(chunk, split);
    return split;
  }

  async feed(jobId: string): Promise<readonly FeedPart[]> {
    return this.#feeds.parts(jobId);
  }

  async feedProgress(jobId: string, attempt: number): Promise<FeedProgress> {
    return this.#feeds.progress(jobId, attempt);
  }

  async completionsSince(sinceMs: number): Promise<ReadonlyMap<string, number>> {
    return new Map(this.#selectCompletions.all({ sinceMs }));
  }
}
