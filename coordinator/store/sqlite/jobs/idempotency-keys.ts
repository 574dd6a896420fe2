import type Database from "better-sqlite3";
import { IDEMPOTENCY_WINDOW_MS, type KeyedRequest, type Made } from "../../idempotency.ts";
import { idempotencyKeyTable } from "../../job-tables.ts";
import type { RowOf } from "../../table.ts";
import { prepareInsert } from "../engine/sqlite-tx.ts";
import { REFUSALS } from "../../refusals.ts";

type KeyRow = Omit<RowOf<typeof idempotencyKeyTable>, "accountId" | "key">;

/** The Idempotency-Keys of all submissions. Jobs and batches of an account share one space of keys. */
export function idempotencyKeys(db: Database.Database) {
  const select = db.prepare<[string, string], KeyRow>(
    `SELECT ${idempotencyKeyTable.columnsBut("accountId", "key")} FROM idempotency_keys WHERE account_id = ? AND key = ?`,
  );
  const members = ["accountId", "key", "bodyHash", "jobId", "batchId", "createdAtMs"] as const;
  const insert = prepareInsert(
    db,
    idempotencyKeyTable,
    members,
    `ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
       batch_id = excluded.batch_id, created_at_ms = excluded.created_at_ms`,
  );
  return {
    /** What the first request with the key made; undefined for a new key. @throws {ServiceError} `idempotency_conflict`. */
    find({ accountId, createdAtMs, idempotency }: KeyedRequest): Made | undefined {
      if (idempotency === null) return undefined;
      const known = select.get(accountId, idempotency.key);
      if (known === undefined || createdAtMs - known.createdAtMs >= IDEMPOTENCY_WINDOW_MS) return undefined;
      if (known.bodyHash === idempotency.bodyHash) return known;
      throw REFUSALS.idempotency_conflict();
    },

    /** Does nothing for a submission without a key. */
    save({ accountId, createdAtMs, idempotency }: KeyedRequest, made: Made): void {
      if (idempotency !== null) insert({ accountId, createdAtMs, ...idempotency, ...made });
    },
  };
}
