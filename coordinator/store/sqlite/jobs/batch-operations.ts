import type Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";
import type { NewBatch } from "../../batch-store.ts";
import { batchIdOf, IdempotencyKeys } from "./idempotency-keys.ts";
import { prepareInsertJob, type JobToInsert } from "./job-insert.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { prepareInsertWebhook } from "../webhooks/webhook-operations.ts";

export interface BatchOperations {
  /** Answers the id of the first batch of the same Idempotency-Key, or null when this one was stored. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly JobToInsert[] }): string | null;
  cancelBatch(args: { batchId: string; atMs: number }): void;
}

export function batchOperations(db: Database.Database, ledger: Ledger): BatchOperations {
  const cancel = db.prepare<[number, string]>(
    "UPDATE batches SET cancelled_at_ms = ? WHERE id = ? AND completed_at_ms IS NULL",
  );
  return {
    submitBatch: submitBatch(db, ledger),
    cancelBatch: ({ batchId, atMs }) => void cancel.run(atMs, batchId),
  };
}

function submitBatch(db: Database.Database, ledger: Ledger): BatchOperations["submitBatch"] {
  const keys = new IdempotencyKeys(db);
  const insertJob = prepareInsertJob(db);
  const insertWebhook = prepareInsertWebhook(db);
  const insertBatch = db.prepare(
    `INSERT INTO batches (id, account_id, slug, workload_id, priority, fail_mode, unfinished, created_at_ms, webhook_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (batch) => {
    const { id, accountId, jobs, createdAtMs, webhook } = batch;
    const known = keys.find(batch);
    if (known !== undefined) return batchIdOf(known);
    const first = jobs[0];
    if (first === undefined) throw new Error(`Batch ${id} has no job`);
    const totalMicro = jobs.reduce((sum, { priceMicro }) => sum + priceMicro, 0);
    const balance = ledger.balance(`client:${accountId}`);
    if (balance === undefined) throw new ServiceError("not_found", "There is no such account");
    if (balance < totalMicro) throw new ServiceError("insufficient_credits", "Not enough credits for this batch");

    const { slug, workloadId, priority, failMode } = batch;
    const webhookId = webhook?.id ?? null;
    insertBatch.run(id, accountId, slug, workloadId, priority, failMode, jobs.length, createdAtMs, webhookId);
    for (const job of jobs) insertJob(job, { batchId: id, webhookId: null });
    if (webhook !== null) insertWebhook(webhook, accountId, { kind: "batch", id });
    keys.save(batch, { jobId: first.id, batchId: id });
    ledger.post(
      [
        { party: `client:${accountId}`, micro: -totalMicro, kind: "hold" },
        { party: `hold:${accountId}`, micro: totalMicro, kind: "hold" },
      ],
      // The jobs settle their parts one by one, each under its own id.
      id,
      createdAtMs,
    );
    return null;
  };
}
