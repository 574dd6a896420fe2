import { FILE_BATCH_COLUMNS, fileBatchOf, type FileBatchRow } from "../../file-batch-rows.ts";
import type {
  FileBatch,
  FileBatchLease,
  FileBatchProgress,
  FileBatchStore,
  NewFileBatch,
} from "../../file-batch-store.ts";
import type { Database } from "../engine/database.ts";

const SELECT = `SELECT ${FILE_BATCH_COLUMNS} FROM file_batches WHERE account_id = $1`;
const COUNT_OPEN = "SELECT count(*) AS open FROM file_batches WHERE account_id = $1 AND ended_at_ms IS NULL";
const ADD = `INSERT INTO file_batches (id, account_id, created_at_ms, expires_at_ms, request, progress)
  VALUES ($1, $2, $3, $4, $5, $6)`;
const CANCEL = `UPDATE file_batches SET cancelling_at_ms = $3
  WHERE id = $2 AND account_id = $1 AND ended_at_ms IS NULL AND cancelling_at_ms IS NULL RETURNING id`;
const LEASE = `UPDATE file_batches SET lease_owner = $1, lease_until_ms = $2 WHERE id = ANY (ARRAY(
    SELECT id FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= $3
    ORDER BY id LIMIT $4 FOR UPDATE SKIP LOCKED))
  RETURNING ${FILE_BATCH_COLUMNS}`;
const SAVE = `UPDATE file_batches SET progress = $3, lease_until_ms = $4
  WHERE id = $1 AND lease_owner = $2 AND ended_at_ms IS NULL RETURNING cancelling_at_ms AS "cancellingAtMs"`;
const END = `UPDATE file_batches SET progress = $3, ended_at_ms = $4, lease_owner = NULL
  WHERE id = $1 AND lease_owner = $2 AND ended_at_ms IS NULL RETURNING id`;
const RELEASE =
  "UPDATE file_batches SET lease_owner = NULL, lease_until_ms = 0 WHERE lease_owner = $1 AND ended_at_ms IS NULL";

export class PostgresFileBatchStore implements FileBatchStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(batch: NewFileBatch, maxOpen: number): Promise<boolean> {
    const { id, accountId, createdAtMs, expiresAtMs } = batch;
    return this.#db.transact(async (session) => {
      // One of an account after the other: each is counted.
      await session.one("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
      const found = await session.one<{ open: number }>(COUNT_OPEN, [accountId]);
      if ((found?.open ?? 0) >= maxOpen) return false;
      const [request, progress] = [JSON.stringify(batch.request), JSON.stringify(batch.progress)];
      await session.run(ADD, [id, accountId, createdAtMs, expiresAtMs, request, progress]);
      return true;
    });
  }

  get(accountId: string, id: string): Promise<FileBatch | undefined> {
    return this.#db.use(async (session) => {
      const row = await session.one<FileBatchRow>(`${SELECT} AND id = $2`, [accountId, id]);
      return row && fileBatchOf(row);
    });
  }

  list(accountId: string, { afterId, limit }: { afterId: string | null; limit: number }): Promise<FileBatch[]> {
    const sql = `${SELECT} AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`;
    return this.#db.use(async (session) =>
      (await session.all<FileBatchRow>(sql, [accountId, afterId, limit])).map(fileBatchOf),
    );
  }

  cancel(accountId: string, id: string, atMs: number): Promise<boolean> {
    return this.#db.use(async (session) => (await session.one(CANCEL, [accountId, id, atMs])) !== undefined);
  }

  lease({ ownerId, untilMs }: Omit<FileBatchLease, "id">, nowMs: number, limit: number): Promise<FileBatch[]> {
    return this.#db.use(async (session) =>
      (await session.all<FileBatchRow>(LEASE, [ownerId, untilMs, nowMs, limit])).map(fileBatchOf),
    );
  }

  save(lease: FileBatchLease, progress: FileBatchProgress): Promise<{ cancellingAtMs: number | null } | undefined> {
    const { id, ownerId, untilMs } = lease;
    return this.#db.use((session) => session.one(SAVE, [id, ownerId, JSON.stringify(progress), untilMs]));
  }

  end({ id, ownerId }: Omit<FileBatchLease, "untilMs">, progress: FileBatchProgress, atMs: number): Promise<boolean> {
    const values = [id, ownerId, JSON.stringify(progress), atMs];
    return this.#db.use(async (session) => (await session.one(END, values)) !== undefined);
  }

  async release(ownerId: string): Promise<void> {
    await this.#db.use((session) => session.run(RELEASE, [ownerId]));
  }

  async removeOfAccount(accountId: string): Promise<void> {
    await this.#db.use((session) => session.run("DELETE FROM file_batches WHERE account_id = $1", [accountId]));
  }
}
