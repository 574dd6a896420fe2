import { assertFileFits } from "../../file-budget.ts";
import {
  UNSTORED_HOLD_MS,
  type FileBudget,
  type FileHold,
  type FileList,
  type FileRecord,
  type FileStore,
  type FileUsage,
  type RemovedFiles,
} from "../../file-store.ts";
import type { Session, Values } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";

const COLUMNS = `files.id, files.account_id AS "accountId", purpose, filename, files.size_bytes AS "sizeBytes", sha256, blob,
  files.created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs"`;
const SELECT = `SELECT ${COLUMNS} FROM files JOIN file_blobs ON name = blob
  WHERE account_id = $1 AND (expires_at_ms IS NULL OR expires_at_ms > $2)`;
/** Whether the job or batch of the hold `h` goes on; null while neither is stored. */
const IS_NEEDED = `coalesce((SELECT state IN ('pending', 'queued', 'running') FROM jobs WHERE id = h.job_id),
  (SELECT ended_at_ms IS NULL FROM file_batches WHERE id = h.job_id))`;
const SELECT_HELD = `SELECT ${COLUMNS} FROM files JOIN file_blobs ON name = blob
  JOIN file_holds h ON file_id = files.id WHERE files.id = $1 AND job_id = $2 AND ${IS_NEEDED}`;
/** Whether the hold `h` keeps its file. `$1`: the earliest time of a hold whose job or batch is not stored. */
const HOLDS = `coalesce(${IS_NEEDED}, h.made_at_ms > $1)`;
const IS_FREE = `NOT EXISTS (SELECT 1 FROM file_holds h WHERE h.file_id = files.id AND ${HOLDS})`;
const USAGE =
  "SELECT count(*) AS files, coalesce(sum(size_bytes), 0)::bigint AS bytes FROM files WHERE account_id = $1";
const page = (after: string, order: string): string =>
  `${SELECT} AND ($3::text IS NULL OR id ${after} $3) AND ($4::text IS NULL OR purpose = $4) ORDER BY id ${order} LIMIT $5`;
const NEWEST_FIRST = page("<", "DESC");
const OLDEST_FIRST = page(">", "ASC");

export class PostgresFileStore implements FileStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(file: FileRecord, budget: FileBudget): Promise<FileRecord> {
    return this.#db.transact(async (session) => {
      await lockFilesOf(session, file.accountId);
      return addFile(session, file, budget);
    });
  }

  async get(accountId: string, id: string, nowMs: number): Promise<FileRecord | undefined> {
    // The database refuses such a text, and clients may put one into JSON.
    if (id.includes("\0")) return undefined;
    return this.#db.use((session) => session.one<FileRecord>(`${SELECT} AND id = $3`, [accountId, nowMs, id]));
  }

  list(accountId: string, { afterId, limit, isNewestFirst, purpose, nowMs }: FileList): Promise<FileRecord[]> {
    const sql = isNewestFirst ? NEWEST_FIRST : OLDEST_FIRST;
    return this.#db.use((session) => session.all<FileRecord>(sql, [accountId, nowMs, afterId, purpose, limit]));
  }

  usage(accountId: string): Promise<FileUsage> {
    return this.#db.use((session) => usageOf(session, accountId));
  }

  async total(): Promise<FileUsage> {
    const sql = `SELECT (SELECT count(*) FROM files) AS files,
      (SELECT coalesce(sum(size_bytes), 0) FROM file_blobs)::bigint AS bytes`;
    return (await this.#db.use((session) => session.one<FileUsage>(sql, []))) ?? { files: 0, bytes: 0 };
  }

  hold(accountId: string, holds: readonly FileHold[], nowMs: number): Promise<string[]> {
    const ids = [...new Set(holds.map(({ fileId }) => fileId))].toSorted();
    return this.#db.transact(async (session) => {
      // A removal waits for these, and then sees the holds.
      const sql = `SELECT id FROM files WHERE id = ANY ($1::text[]) AND account_id = $2
        AND (expires_at_ms IS NULL OR expires_at_ms > $3) ORDER BY id FOR KEY SHARE`;
      const known = new Set((await session.all<{ id: string }>(sql, [ids, accountId, nowMs])).map(({ id }) => id));
      const missing = ids.filter((id) => !known.has(id));
      if (missing.length > 0) return missing;
      await session.run(
        `INSERT INTO file_holds (job_id, file_id, made_at_ms)
         SELECT job_id, file_id, $3::bigint FROM unnest($1::text[], $2::text[]) AS held (job_id, file_id) ON CONFLICT DO NOTHING`,
        [holds.map(({ jobId }) => jobId), holds.map(({ fileId }) => fileId), nowMs],
      );
      return [];
    });
  }

  unhold(holds: readonly FileHold[]): Promise<void> {
    const sql = "DELETE FROM file_holds WHERE (file_id, job_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))";
    return this.#db.use(async (session) => {
      await session.run(sql, [holds.map(({ fileId }) => fileId), holds.map(({ jobId }) => jobId)]);
    });
  }

  held({ jobId, fileId }: FileHold): Promise<FileRecord | undefined> {
    return this.#db.use((session) => session.one<FileRecord>(SELECT_HELD, [fileId, jobId]));
  }

  removeOldHolds(nowMs: number, limit: number): Promise<number> {
    const sql = `DELETE FROM file_holds WHERE (file_id, job_id) IN (
      SELECT file_id, job_id FROM file_holds h WHERE made_at_ms <= $1 AND NOT ${HOLDS} LIMIT $2)`;
    return this.#db.use((session) => session.run(sql, [nowMs - UNSTORED_HOLD_MS, limit]));
  }

  remove(accountId: string, id: string, nowMs: number): Promise<RemovedFiles> {
    const find = `SELECT id FROM files WHERE id = $2 AND account_id = $3 AND ${IS_FREE} FOR UPDATE`;
    return this.#remove(find, [nowMs - UNSTORED_HOLD_MS, id, accountId], nowMs);
  }

  removeExpired(nowMs: number, limit: number): Promise<RemovedFiles> {
    const find = `SELECT id FROM files WHERE expires_at_ms <= $2 AND ${IS_FREE} ORDER BY expires_at_ms, id LIMIT $3 FOR UPDATE`;
    return this.#remove(find, [nowMs - UNSTORED_HOLD_MS, nowMs, limit], nowMs);
  }

  removeOfAccount(accountId: string, limit: number): Promise<RemovedFiles> {
    const find = "SELECT id FROM files WHERE account_id = $1 ORDER BY id LIMIT $2 FOR UPDATE";
    return this.#remove(find, [accountId, limit], null);
  }

  withoutFile(blobs: readonly string[]): Promise<string[]> {
    return this.#db.use(async (session) => {
      const sql = "SELECT name FROM file_blobs WHERE name = ANY ($1::text[])";
      const known = new Set((await session.all<{ name: string }>(sql, [blobs])).map(({ name }) => name));
      return blobs.filter((name) => !known.has(name));
    });
  }

  /** @param heldAtMs null: whoever holds them. */
  #remove(find: string, values: Values, heldAtMs: number | null): Promise<RemovedFiles> {
    return this.#db.transact(async (session) => {
      const found = (await session.all<{ id: string }>(find, values)).map(({ id }) => id);
      // Asked again, as a job may have come to hold one before it was locked.
      const removed = await removeRows(session, found, heldAtMs);
      // In one order, so that two coordinators never wait for each other in a circle. Locked first: what is asked next sees new files.
      const locked = await session.all<{ name: string }>(
        "SELECT name FROM file_blobs WHERE name = ANY ($1::text[]) ORDER BY sha256 FOR UPDATE",
        [removed],
      );
      const blobs = await session.all<{ name: string }>(
        `DELETE FROM file_blobs WHERE name = ANY ($1::text[])
           AND NOT EXISTS (SELECT 1 FROM files WHERE blob = file_blobs.name) RETURNING name`,
        [locked.map(({ name }) => name)],
      );
      return { files: removed.length, blobs: blobs.map(({ name }) => name) };
    });
  }
}

/** Returns the names of their contents. */
async function removeRows(session: Session, ids: readonly string[], heldAtMs: number | null): Promise<string[]> {
  const removed = await session.all<{ blob: string }>(
    heldAtMs === null
      ? "DELETE FROM files WHERE id = ANY ($1::text[]) RETURNING blob"
      : `DELETE FROM files WHERE id = ANY ($2::text[]) AND ${IS_FREE} RETURNING blob`,
    heldAtMs === null ? [ids] : [heldAtMs - UNSTORED_HOLD_MS, ids],
  );
  return removed.map(({ blob }) => blob);
}

async function usageOf(session: Session, accountId: string): Promise<FileUsage> {
  return (await session.one<FileUsage>(USAGE, [accountId])) ?? { files: 0, bytes: 0 };
}

/** One change of an account's files after the other: each is counted. */
async function lockFilesOf(session: Session, accountId: string): Promise<void> {
  await session.one("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
}

/** To be called in a transaction that has {@link lockFilesOf} the account. @throws {ServiceError} `file_budget_exceeded` */
async function addFile(session: Session, file: FileRecord, budget: FileBudget): Promise<FileRecord> {
  assertFileFits(await usageOf(session, file.accountId), file.sizeBytes, budget);
  // The update locks the content that is there: a removal waits, and then sees the new file.
  const stored = await session.one<{ name: string }>(
    `INSERT INTO file_blobs (name, sha256, size_bytes) VALUES ($1, $2, $3)
     ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256 RETURNING name`,
    [file.blob, file.sha256, file.sizeBytes],
  );
  const blob = stored?.name ?? file.blob;
  await session.run(
    `INSERT INTO files (id, account_id, purpose, filename, size_bytes, blob, created_at_ms, expires_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [file.id, file.accountId, file.purpose, file.filename, file.sizeBytes, blob, file.createdAtMs, file.expiresAtMs],
  );
  return { ...file, blob };
}
