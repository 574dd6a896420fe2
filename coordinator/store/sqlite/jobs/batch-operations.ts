import type Database from "better-sqlite3";
import type { HotWrites } from "../../hot-writes.ts";
import { batchTable, SUBMITTED_BATCH_COLUMNS } from "../../job-tables.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import { prepareSubmit } from "./submission.ts";
import type { Ledger } from "../ledger/ledger.ts";

export type BatchOperations = Pick<HotWrites, "submitBatch">;

export function batchOperations(db: Database.Database, ledger: Ledger): BatchOperations {
  const submit = prepareSubmit(db, ledger);
  const insert = prepareInsert(db, batchTable, [...SUBMITTED_BATCH_COLUMNS, "unfinished", "webhookId"]);
  return {
    submitBatch(batch) {
      const { id, jobs, webhook } = batch;
      const made = submit(
        batch,
        { kind: "batch", id, jobs },
        () => void insert({ ...batch, unfinished: jobs.length, webhookId: webhook?.id ?? null }),
      );
      // No job needs a place, as one coordinator counts them.
      return made ?? 0;
    },
  };
}
