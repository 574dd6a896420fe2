import Database from "better-sqlite3";
import type { Posting } from "../../coordinator/credits/postings.ts";
import { openStores } from "../../coordinator/store/all-steps.ts";
import { type Audit, auditTable, NEW_AUDIT_COLUMNS, type NewAudit } from "../../coordinator/store/audits.ts";
import { migrate } from "../../coordinator/store/sqlite/engine/migrate.ts";
import type { Operation } from "../../coordinator/store/sqlite/engine/operations.ts";
import { prepareInsert, prepareOnce } from "../../coordinator/store/sqlite/engine/sqlite-tx.ts";
import { transactionRunner } from "../../coordinator/store/sqlite/engine/transaction-runner.ts";
import { toError } from "../../coordinator/store/sqlite/engine/worker-errors.ts";
import { MIGRATIONS } from "../../coordinator/store/sqlite/migrations.ts";
import { sqliteSteps } from "../../coordinator/store/sqlite/sqlite-store.ts";

/** The store's real steps on an SQLite database in memory. Its promises settle before the next macrotask. */
export function openMemoryStore() {
  const db = new Database(":memory:");
  migrate(db, MIGRATIONS, 0);
  const runner = transactionRunner(db);
  const insertAudit = prepareInsert(db, auditTable, ["jobId", "endedAtMs", ...NEW_AUDIT_COLUMNS]);
  const selectAudits = db.prepare<[], Pick<Audit, "jobId" | "earning" | "verdict" | "earnedMicro">>(
    `SELECT id AS "jobId", earning, verdict, earned_micro AS "earnedMicro" FROM audits`,
  );
  let last: Promise<unknown> = Promise.resolve();

  /** Runs steps one after the other, because each has a transaction. */
  function runStep(name: string, args: readonly unknown[]): Promise<unknown> {
    const done = last.then(async () => {
      const { values, failures } = await runner.run([[name, args] as unknown as Operation]);
      const failure = failures[0]?.[1];
      if (failure === undefined) return values[0];
      throw toError(failure);
    });
    last = done.catch(() => undefined);
    return done;
  }

  const thread = { runStep };
  const { accounts, audits, ledger } = openStores(sqliteSteps(prepareOnce(db), thread, thread));
  return {
    accounts,
    audits,
    ledger,
    /** Stores the end of a job, as the coordinator's transaction does. */
    async endJob(jobId: string, audit: NewAudit | null, postings: readonly Posting[], atMs: number): Promise<void> {
      await ledger.post(postings, atMs);
      if (audit !== null) insertAudit({ ...audit, jobId, endedAtMs: atMs });
    },
    allAudits: () => selectAudits.all(),
    close: () => db.close(),
  };
}
