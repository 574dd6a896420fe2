import type Database from "better-sqlite3";
import type { NewBatch } from "../../batch-store.ts";
import { batchIdOf } from "../../idempotency.ts";
import { prepareSubmit, type JobToInsert } from "./submission.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface BatchOperations {
  /** Inputs: JSON text. Returns the id of the first batch with the same Idempotency-Key, or null if this batch was stored. */
  submitBatch(args: Omit<NewBatch, "jobs"> & { readonly jobs: readonly JobToInsert[] }): string | null;
  cancelBatch(args: { batchId: string; atMs: number }): void;
}

export function batchOperations(db: Database.Database, ledger: Ledger): BatchOperations {
  const submit = prepareSubmit(db, ledger);
  const insert = db.prepare(
    `INSERT INTO batches (id, account_id, slug, workload_id, priority, fail_mode, unfinished, created_at_ms, webhook_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const cancel = db.prepare<[number, string]>(
    "UPDATE batches SET cancelled_at_ms = ? WHERE id = ? AND completed_at_ms IS NULL",
  );
  return {
    submitBatch(batch) {
      const { id, accountId, slug, workloadId, priority, failMode, jobs, createdAtMs, webhook } = batch;
      const known = submit(batch, { kind: "batch", id, jobs }, () => {
        const webhookId = webhook?.id ?? null;
        insert.run(id, accountId, slug, workloadId, priority, failMode, jobs.length, createdAtMs, webhookId);
      });
      return known === null ? null : batchIdOf(known);
    },
    cancelBatch: ({ batchId, atMs }) => void cancel.run(atMs, batchId),
  };
}
