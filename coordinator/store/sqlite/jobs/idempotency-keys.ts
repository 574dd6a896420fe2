import type Database from "better-sqlite3";
import { IDEMPOTENCY_WINDOW_MS, type KeyedRequest, type Made } from "../../idempotency.ts";
import { REFUSALS } from "../../refusals.ts";

interface KeyRow extends Made {
  readonly bodyHash: string;
  readonly createdAtMs: number;
}

/** The Idempotency-Keys of all submissions. Jobs and batches of an account share one space of keys. */
export class IdempotencyKeys {
  readonly #select: Database.Statement<[string, string], KeyRow>;
  readonly #save: Database.Statement;

  constructor(db: Database.Database) {
    this.#select = db.prepare(
      `SELECT body_hash AS bodyHash, job_id AS jobId, batch_id AS batchId, created_at_ms AS createdAtMs
       FROM idempotency_keys WHERE account_id = ? AND key = ?`,
    );
    this.#save = db.prepare(
      `INSERT INTO idempotency_keys (account_id, key, body_hash, job_id, batch_id, created_at_ms)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (account_id, key) DO UPDATE SET body_hash = excluded.body_hash, job_id = excluded.job_id,
         batch_id = excluded.batch_id, created_at_ms = excluded.created_at_ms`,
    );
  }

  /** What the first request with the key made; undefined for a new key. @throws {ServiceError} `idempotency_conflict`. */
  find({ accountId, createdAtMs, idempotency }: KeyedRequest): Made | undefined {
    if (idempotency === null) return undefined;
    const known = this.#select.get(accountId, idempotency.key);
    if (known === undefined || createdAtMs - known.createdAtMs >= IDEMPOTENCY_WINDOW_MS) return undefined;
    if (known.bodyHash === idempotency.bodyHash) return known;
    throw REFUSALS.idempotency_conflict();
  }

  /** Does nothing for a submission without a key. */
  save({ accountId, createdAtMs, idempotency }: KeyedRequest, { jobId, batchId }: Made): void {
    if (idempotency === null) return;
    this.#save.run(accountId, idempotency.key, idempotency.bodyHash, jobId, batchId, createdAtMs);
  }
}
