import type Database from "better-sqlite3";
import type { NewWebhook } from "../../webhooks.ts";
import type { JobText } from "../../hot-writes.ts";
import type { NewJob, Submission } from "../../job-store.ts";
import { nextState, type JobState } from "../../../../shared/job-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Made } from "../../idempotency.ts";
import { prepareKeySpending } from "./key-spending-operations.ts";
import { IdempotencyKeys } from "./idempotency-keys.ts";

type JobToInsert = JobText & Pick<NewJob, "assignedTo">;

/** What a submission makes: a job or a batch. Webhook, Idempotency-Key and ledger entries refer to its id. */
export interface Subject {
  readonly kind: "job" | "batch";
  readonly id: string;
  readonly jobs: readonly JobToInsert[];
}

/**
 * Stores submissions of both kinds. Returns what the first one with the same Idempotency-Key made, or null if this one was stored.
 * `insertSubject` inserts the row that the jobs refer to.
 */
export function prepareSubmit(
  db: Database.Database,
  ledger: Ledger,
): (submission: Submission, subject: Subject, insertSubject?: () => void) => Made | null {
  const keys = new IdempotencyKeys(db);
  const spending = prepareKeySpending(db);
  const insertJob = prepareInsertJob(db);
  const insertWebhook = prepareInsertWebhook(db);
  return (submission, { kind, id, jobs }, insertSubject) => {
    const known = keys.find(submission);
    if (known !== undefined) return known;
    const first = jobs[0];
    if (first === undefined) throw new Error(`The ${kind} ${id} has no job`);
    const { accountId, createdAtMs, postings, webhook, apiKey } = submission;
    spending.assertAllows(apiKey);
    ledger.assertAccepts(postings);

    insertSubject?.();
    const [batchId, webhookId] = kind === "batch" ? [id, null] : [null, webhook?.id ?? null];
    const links = { batchId, webhookId, keyNumber: apiKey?.number ?? null, keyMonth: spending.add(apiKey) };
    for (const job of jobs) insertJob(job, links);
    if (webhook !== null) insertWebhook(webhook, accountId, { kind, id });
    keys.save(submission, { jobId: first.id, batchId });
    ledger.post(postings, id, createdAtMs);
    return null;
  };
}

/** Stores the webhook of a submission. */
function prepareInsertWebhook(
  db: Database.Database,
): (webhook: NewWebhook, accountId: string, subject: Pick<Subject, "kind" | "id">) => void {
  const insert = db.prepare(
    `INSERT INTO webhooks (id, account_id, subject_kind, subject_id, url, secret, is_secret_generated)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ id, url, secret, isSecretGenerated }, accountId, subject) => {
    insert.run(id, accountId, subject.kind, subject.id, url, secret, isSecretGenerated ? 1 : 0);
  };
}

/** What all jobs of a submission have in common beside what each of them says. */
interface JobLinks {
  readonly batchId: string | null;
  readonly webhookId: string | null;
  readonly keyNumber: number | null;
  readonly keyMonth: number | null;
}

/** Inserts a job and its input: pending, or with its first attempt. */
function prepareInsertJob(db: Database.Database): (job: JobToInsert, links: JobLinks) => void {
  const insert = db.prepare<
    Omit<JobToInsert, "input" | "share" | "isClientBound" | "ignoredParameters" | "assignedTo"> & {
      state: JobState;
      attempt: 0 | 1;
      islandId: string | null;
      clientBound: 0 | 1;
      ignoredParameters: string | null;
    } & JobLinks
  >(
    `INSERT INTO jobs (id, account_id, slug, workload_id, state, job_class, priority, price_micro, created_at_ms, wait_deadline_ms,
       batch_id, webhook_id, client_bound, ignored_parameters, attempt, island_id, key_number, key_month)
     VALUES (@id, @accountId, @slug, @workloadId, @state, @jobClass, @priority, @priceMicro, @createdAtMs, @waitDeadlineMs,
       @batchId, @webhookId, @clientBound, @ignoredParameters, @attempt, @islandId, @keyNumber, @keyMonth)`,
  );
  const insertInput = db.prepare<[string, string]>("INSERT INTO job_inputs (job_id, input) VALUES (?, ?)");
  return (
    {
      id,
      accountId,
      slug,
      workloadId,
      input,
      jobClass,
      priority,
      priceMicro,
      createdAtMs,
      waitDeadlineMs,
      isClientBound,
      ignoredParameters,
      assignedTo,
    },
    links,
  ) => {
    insert.run({
      id,
      accountId,
      slug,
      workloadId,
      jobClass,
      priority,
      priceMicro,
      createdAtMs,
      waitDeadlineMs,
      ...links,
      clientBound: isClientBound ? 1 : 0,
      ignoredParameters: ignoredParameters.length === 0 ? null : JSON.stringify(ignoredParameters),
      state: assignedTo === undefined ? "pending" : nextState("pending", "assign"),
      attempt: assignedTo === undefined ? 0 : 1,
      islandId: assignedTo ?? null,
    });
    insertInput.run(id, input);
  };
}
