import type Database from "better-sqlite3";
import type { HotWrites } from "../../hot-writes.ts";
import { prepareSubmit } from "./submission.ts";
import type { Ledger } from "../ledger/ledger.ts";

export type BatchOperations = Pick<HotWrites, "submitBatch">;

export function batchOperations(db: Database.Database, ledger: Ledger): BatchOperations {
  const submit = prepareSubmit(db, ledger);
  const insert = db.prepare(
    `INSERT INTO batches (id, account_id, slug, workload_id, priority, fail_mode, unfinished, created_at_ms, webhook_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    submitBatch(batch) {
      const { id, accountId, slug, workloadId, priority, failMode, jobs, createdAtMs, webhook } = batch;
      const made = submit(batch, { kind: "batch", id, jobs }, () => {
        const webhookId = webhook?.id ?? null;
        insert.run(id, accountId, slug, workloadId, priority, failMode, jobs.length, createdAtMs, webhookId);
      });
      // No job needs a place, as one coordinator counts them.
      return made ?? 0;
    },
  };
}
