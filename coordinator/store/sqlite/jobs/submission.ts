import type Database from "better-sqlite3";
import type { JobText } from "../../hot-writes.ts";
import type { NewJob, Submission } from "../../job-store.ts";
import { nextState } from "../../../../shared/job-state.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Made } from "../../idempotency.ts";
import { jobInputTable, jobTable, SUBMITTED_COLUMNS } from "../../job-tables.ts";
import type { RowOf } from "../../table.ts";
import { SUBMITTED_WEBHOOK_COLUMNS, webhookTable } from "../../webhooks.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import { prepareKeySpending } from "./key-spending-operations.ts";
import { idempotencyKeys } from "./idempotency-keys.ts";

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
  const keys = idempotencyKeys(db);
  const spending = prepareKeySpending(db);
  const insertJob = prepareInsertJob(db);
  const insertWebhook = prepareInsert(db, webhookTable, [
    ...SUBMITTED_WEBHOOK_COLUMNS,
    "accountId",
    "subjectKind",
    "subjectId",
  ]);
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
    if (webhook !== null) insertWebhook({ ...webhook, accountId, subjectKind: kind, subjectId: id });
    keys.save(submission, { jobId: first.id, batchId });
    ledger.post(postings, id, createdAtMs);
    return null;
  };
}

/** What all jobs of a submission have in common beside what each of them says. */
type JobLinks = Pick<RowOf<typeof jobTable>, "batchId" | "webhookId" | "keyNumber" | "keyMonth">;

/** Inserts a job and its input: pending, or with its first attempt. */
function prepareInsertJob(db: Database.Database): (job: JobToInsert, links: JobLinks) => void {
  const links = ["batchId", "webhookId", "keyNumber", "keyMonth"] as const;
  const insert = prepareInsert(db, jobTable, [...SUBMITTED_COLUMNS, ...links, "state", "attempt", "islandId"]);
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
