import type Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";
import type {
  FeedChunk,
  FeedItem,
  FeedPart,
  JobEnding,
  JobFilter,
  JobInput,
  JobMove,
  JobRecord,
  JobStore,
  JobSummary,
  ActiveJobRecord,
  NewJob,
  SubmitOutcome,
} from "../../job-store.ts";
import { assertPage, type Page } from "../../page.ts";
import type { JobOperations } from "./job-operations.ts";
import { jobOf, ACTIVE_COLUMNS, newJobRecord, WHOLE_COLUMNS, type JobRow } from "./job-rows.ts";
import type { Reader } from "../engine/reader.ts";
import type { Writer } from "../engine/writer.ts";
import type { SecretBox } from "../webhooks/secret-box.ts";

export class SqliteJobStore implements JobStore {
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #secrets: Pick<SecretBox, "sealIn">;
  readonly #selectAccount: Database.Statement<[string], string>;
  readonly #selectJob: Database.Statement<[string], JobRow>;
  readonly #selectInput: Database.Statement<[string], string>;
  readonly #selectUnfinished: Database.Statement<[], ActiveJobRecord>;
  readonly #selectFeed: Database.Statement<[string], { attempt: number; seq: number | null; items: string }>;
  readonly #selectCompletions: Database.Statement<[number], [string, number]>;

  constructor(db: Database.Database, reader: Reader, writer: Writer, secrets: Pick<SecretBox, "sealIn">) {
    this.#reader = reader;
    this.#writer = writer;
    this.#secrets = secrets;
    this.#selectAccount = db.prepare<[string], string>("SELECT account_id FROM jobs WHERE id = ?").pluck();
    this.#selectJob = db.prepare(
      `SELECT ${WHOLE_COLUMNS} FROM jobs JOIN job_inputs ON job_inputs.job_id = jobs.id
       LEFT JOIN job_outputs ON job_outputs.job_id = jobs.id WHERE jobs.id = ?`,
    );
    this.#selectInput = db.prepare<[string], string>("SELECT input FROM job_inputs WHERE job_id = ?").pluck();
    this.#selectUnfinished = db.prepare(
      `SELECT ${ACTIVE_COLUMNS} FROM jobs INDEXED BY jobs_unfinished WHERE completed_at_ms IS NULL ORDER BY id`,
    );
    this.#selectFeed = db.prepare("SELECT attempt, seq, items FROM feed_chunks WHERE job_id = ? ORDER BY ord");
    this.#selectCompletions = db
      .prepare<[number], [string, number]>(
        "SELECT slug, count(*) FROM jobs WHERE state = 'completed' AND completed_at_ms >= ? GROUP BY slug",
      )
      .raw();
  }

  async submit(newJob: NewJob): Promise<SubmitOutcome> {
    const { answer, ...job } = newJob;
    const args = { ...job, input: JSON.stringify(job.input), webhook: this.#secrets.sealIn(job.webhook) };
    const firstId = await this.#submit(answer, args);
    if (firstId === null) return { created: true, job: newJobRecord(job) };
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
    return row === undefined ? undefined : jobOf(row);
  }

  async input(jobId: string): Promise<JobInput> {
    const text = this.#selectInput.get(jobId);
    if (text === undefined) throw new ServiceError("not_found", "There is no such job");
    return JSON.parse(text) as JobInput;
  }

  async list(accountId: string, page: Page, filter: JobFilter): Promise<{ jobs: JobSummary[]; total: number }> {
    assertPage(page);
    return this.#reader.run("jobs", { accountId, page, filter });
  }

  async unfinished(): Promise<ActiveJobRecord[]> {
    return this.#selectUnfinished.all();
  }

  move(move: JobMove): Promise<void> {
    return this.#writer.run("moveJob", move);
  }

  async end({ output, timings, error, ...ending }: JobEnding): Promise<{ dueWebhookIds: readonly string[] }> {
    const isCompleted = ending.event === "complete" && output !== undefined;
    const dueWebhookIds = await this.#writer.run("endJob", {
      ...ending,
      output: isCompleted ? JSON.stringify(output) : null,
      timings: timings === null ? null : JSON.stringify(timings),
      error: error === null ? null : JSON.stringify(error),
    });
    return { dueWebhookIds };
  }

  async appendFeed({ jobId, attempt, seq, items }: FeedChunk): Promise<void> {
    await this.#writer.run("appendFeed", { jobId, attempt, seq, items: JSON.stringify(items) });
  }

  async feed(jobId: string, attempt: number): Promise<{ parts: FeedPart[]; lastSeq: number }> {
    const chunks = this.#selectFeed.all(jobId);
    const seqs = chunks.map((chunk) => (chunk.attempt === attempt ? (chunk.seq ?? 0) : 0));
    return {
      parts: chunks.map((chunk) => ({ attempt: chunk.attempt, items: JSON.parse(chunk.items) as FeedItem[] })),
      lastSeq: seqs.reduce((last, seq) => Math.max(last, seq), 0),
    };
  }

  async completionsSince(sinceMs: number): Promise<ReadonlyMap<string, number>> {
    return new Map(this.#selectCompletions.all(sinceMs));
  }
}
