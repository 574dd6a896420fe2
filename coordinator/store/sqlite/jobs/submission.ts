import type Database from "better-sqlite3";
import type { HotWrites, JobText } from "../../jobs/hot-writes.ts";
import type { NewJob, Submission } from "../../jobs/job-store.ts";
import { nextState } from "../../../../shared/job-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { messageTable } from "../../conversations.ts";
import { IDEMPOTENCY_WINDOW_MS, type KeyedRequest, type FirstRequest } from "../../jobs/idempotency.ts";
import {
  batchTable,
  idempotencyKeyTable,
  jobInputTable,
  jobTable,
  SUBMITTED_BATCH_COLUMNS,
  SUBMITTED_COLUMNS,
} from "../../jobs/job-tables.ts";
import { REFUSALS } from "../../refusals.ts";
import type { RowOf } from "../../steps/table.ts";
import { SUBMITTED_WEBHOOK_COLUMNS, webhookTable } from "../../jobs/webhooks.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import { prepareKeySpending } from "./key-spending-operations.ts";

type JobToInsert = JobText & Pick<NewJob, "assignedTo">;

/** A submitted job or batch, whose id its webhook, Idempotency-Key and ledger entries refer to. */
interface Subject {
  readonly kind: "job" | "batch";
  readonly id: string;
  readonly jobs: readonly JobToInsert[];
}

type SubmissionOperations = Pick<HotWrites, "submitJob" | "submitBatch" | "askQuestion" | "askAgain" | "findRepeat">;

export function submissionOperations(db: Database.Database, ledger: Ledger): SubmissionOperations {
  const keys = idempotencyKeys(db);
  const submit = prepareSubmit(db, ledger, keys);
  const insertBatch = prepareInsert(db, batchTable, [...SUBMITTED_BATCH_COLUMNS, "unfinished", "webhookId"]);
  const submitJob: SubmissionOperations["submitJob"] = (job) => submit(job, { kind: "job", id: job.id, jobs: [job] });
  return {
    submitJob,
    submitBatch(batch) {
      const { id, jobs, webhook } = batch;
      const insert = () => void insertBatch({ ...batch, unfinished: jobs.length, webhookId: webhook?.id ?? null });
      // 0: a single coordinator counts quota slots in memory.
      return submit(batch, { kind: "batch", id, jobs }, insert) ?? 0;
    },
    findRepeat: (request) => keys.find(request) ?? null,
    ...askOperations(db, submitJob),
  };
}

/**
 * Returns a function that stores a submission, or returns what the first with the same Idempotency-Key created.
 * `insertSubject` inserts the batch row that the jobs refer to.
 */
function prepareSubmit(
  db: Database.Database,
  ledger: Ledger,
  keys: ReturnType<typeof idempotencyKeys>,
): (submission: Submission, subject: Subject, insertSubject?: () => void) => FirstRequest | null {
  const spending = prepareKeySpending(db);
  const insertJob = prepareInsertJob(db);
  const members = [...SUBMITTED_WEBHOOK_COLUMNS, "accountId", "subjectKind", "subjectId"] as const;
  const insertWebhook = prepareInsert(db, webhookTable, members);
  return (submission, { kind, id, jobs }, insertSubject) => {
    const known = keys.find(submission);
    if (known !== undefined) return known;
    const first = jobs[0];
    if (first === undefined) throw new Error(`A ${kind} must have at least one job: ${id}`);
    const { accountId, createdAtMs, postings, webhook, apiKey } = submission;
    spending.assertAllows(apiKey);
    ledger.assertAccepts(postings);

    insertSubject?.();
    const [batchId, webhookId] = kind === "batch" ? [id, null] : [null, webhook?.id ?? null];
    const links = { batchId, webhookId, keyNumber: apiKey?.number ?? null, keyMonth: spending.add(apiKey) };
    for (const job of jobs) insertJob(job, links);
    if (webhook !== null) insertWebhook({ ...webhook, accountId, subjectKind: kind, subjectId: id });
    keys.save(submission, { jobId: first.id, batchId });
    ledger.post(postings, id, createdAtMs);
    return null;
  };
}

/** Columns with equal values in all jobs of a submission. */
const LINKS = ["batchId", "webhookId", "keyNumber", "keyMonth"] as const;
type JobLinks = Pick<RowOf<typeof jobTable>, (typeof LINKS)[number]>;

/** Returns a function that inserts a job and its input, as `pending` or with its first attempt. */
function prepareInsertJob(db: Database.Database): (job: JobToInsert, links: JobLinks) => void {
  const insert = prepareInsert(db, jobTable, [...SUBMITTED_COLUMNS, ...LINKS, "state", "attempt", "islandId"]);
  const insertInput = prepareInsert(db, jobInputTable, ["jobId", "input"]);
  return ({ input, assignedTo, ...job }, linked) => {
    insert({
      ...job,
      ...linked,
      state: assignedTo === undefined ? "pending" : nextState("pending", "assign"),
      attempt: assignedTo === undefined ? 0 : 1,
      islandId: assignedTo ?? null,
    });
    insertInput({ jobId: job.id, input });
  };
}

/** Prepares access to Idempotency-Keys. Jobs and batches of an account share them. */
function idempotencyKeys(db: Database.Database) {
  const select = db.prepare<[string, string], Omit<RowOf<typeof idempotencyKeyTable>, "accountId" | "key">>(
    `SELECT ${idempotencyKeyTable.columnsBut("accountId", "key")} FROM idempotency_keys WHERE account_id = ? AND key = ?`,
  );
  const members = ["accountId", "key", "bodyHash", "jobId", "batchId", "createdAtMs"] as const;
  const orReplace = `ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
       batch_id = excluded.batch_id, created_at_ms = excluded.created_at_ms`;
  const insert = prepareInsert(db, idempotencyKeyTable, members, orReplace);
  return {
    /**
     * Returns what the key created; undefined for a new key, or without a key.
     * @throws {ServiceError} `idempotency_conflict`.
     */
    find({ accountId, createdAtMs, idempotency }: KeyedRequest): FirstRequest | undefined {
      if (idempotency === null) return undefined;
      const known = select.get(accountId, idempotency.key);
      if (known === undefined || createdAtMs - known.createdAtMs >= IDEMPOTENCY_WINDOW_MS) return undefined;
      if (known.bodyHash === idempotency.bodyHash) return known;
      throw REFUSALS.idempotency_conflict();
    },

    /** Stores what the key created. No-op for a submission without a key. */
    save({ accountId, createdAtMs, idempotency }: KeyedRequest, made: FirstRequest): void {
      if (idempotency !== null) insert({ accountId, createdAtMs, ...idempotency, ...made });
    },
  };
}

function askOperations(
  db: Database.Database,
  submitJob: HotWrites["submitJob"],
): Pick<HotWrites, "askQuestion" | "askAgain"> {
  const touch = db.prepare<[number, string]>("UPDATE conversations SET updated_at_ms = ? WHERE id = ?");
  const findOwner = db.prepare<[string], string>("SELECT account_id FROM conversations WHERE id = ?").pluck();
  const findLast = db.prepare<[string], { id: string; state: string }>(
    "SELECT id, state FROM messages WHERE conversation_id = ? ORDER BY ord DESC LIMIT 1",
  );
  const members = [
    "id",
    "conversationId",
    "role",
    "content",
    "state",
    "jobId",
    "createdAtMs",
    "completedAtMs",
  ] as const;
  const insert = prepareInsert(db, messageTable, members);
  const selectAnswer = "SELECT conversation_id FROM messages WHERE id = ? AND job_id = ? AND state = 'in_progress'";
  const findAnswer = db.prepare<[string, string], string>(selectAnswer).pluck();
  const linkJob = db.prepare<[string, string]>("UPDATE jobs SET conversation_id = ? WHERE id = ?");
  const replaceJob = db.prepare<[string, string]>("UPDATE messages SET job_id = ? WHERE id = ?");
  return {
    askQuestion({ question, job }) {
      const { conversationId, userMessageId, content, answerId, afterMessageId } = question;
      if (findOwner.get(conversationId) !== job.accountId) throw REFUSALS.no_conversation();
      const last = findLast.get(conversationId);
      if (last?.state === "in_progress" || (last?.id ?? null) !== afterMessageId) throw REFUSALS.conversation_busy();
      const made = submitJob(job);
      linkJob.run(conversationId, job.id);
      const { createdAtMs } = job;
      const user = { id: userMessageId, role: "user", content, state: "completed", jobId: null } as const;
      insert({ ...user, conversationId, createdAtMs, completedAtMs: createdAtMs });
      const answer = { id: answerId, role: "assistant", content: "", state: "in_progress", jobId: job.id } as const;
      insert({ ...answer, conversationId, createdAtMs, completedAtMs: null });
      touch.run(createdAtMs, conversationId);
      return made;
    },
    askAgain({ answerId, endedJobId, job }) {
      const conversationId = findAnswer.get(answerId, endedJobId);
      if (conversationId === undefined) throw REFUSALS.no_answer();
      const made = submitJob(job);
      linkJob.run(conversationId, job.id);
      replaceJob.run(job.id, answerId);
      return made;
    },
  };
}
