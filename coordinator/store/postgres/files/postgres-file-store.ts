import type { FileBudget, FileList, FileRecord, FileStore, FileUsage, RemovedFiles } from "../../file-store.ts";
import type { Values } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";
import { addFile, lockFilesOf, usageOf } from "./add-file.ts";

const SELECT = `SELECT id, account_id AS "accountId", purpose, filename, files.size_bytes AS "sizeBytes", sha256, blob,
  created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs"
  FROM files JOIN file_blobs ON name = blob WHERE account_id = $1 AND (expires_at_ms IS NULL OR expires_at_ms > $2)`;
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

  get(accountId: string, id: string, nowMs: number): Promise<FileRecord | undefined> {
    return this.#db.use((session) => session.one<FileRecord>(`${SELECT} AND id = $3`, [accountId, nowMs, id]));
  }

  list(accountId: string, { afterId, limit, isNewestFirst, purpose, nowMs }: FileList): Promise<FileRecord[]> {
    const sql = isNewestFirst ? NEWEST_FIRST : OLDEST_FIRST;
    return this.#db.use((session) => session.all<FileRecord>(sql, [accountId, nowMs, afterId, purpose, limit]));
  }

  usage(accountId: string): Promise<FileUsage> {
    return this.#db.use((session) => usageOf(session, accountId));
  }

  remove(accountId: string, id: string): Promise<RemovedFiles> {
    return this.#remove("DELETE FROM files WHERE id = $1 AND account_id = $2 RETURNING blob", [id, accountId]);
  }

  removeExpired(nowMs: number, limit: number): Promise<RemovedFiles> {
    const sql = `DELETE FROM files WHERE id = ANY (ARRAY(
      SELECT id FROM files WHERE expires_at_ms <= $1 ORDER BY expires_at_ms LIMIT $2)) RETURNING blob`;
    return this.#remove(sql, [nowMs, limit]);
  }

  removeOfAccount(accountId: string, limit: number): Promise<RemovedFiles> {
    const sql = `DELETE FROM files WHERE id = ANY (ARRAY(
      SELECT id FROM files WHERE account_id = $1 ORDER BY id LIMIT $2)) RETURNING blob`;
    return this.#remove(sql, [accountId, limit]);
  }

  withoutFile(blobs: readonly string[]): Promise<string[]> {
    return this.#db.use(async (session) => {
      const sql = "SELECT name FROM file_blobs WHERE name = ANY ($1::text[])";
      const known = new Set((await session.all<{ name: string }>(sql, [blobs])).map(({ name }) => name));
      return blobs.filter((name) => !known.has(name));
    });
  }

  #remove(sql: string, values: Values): Promise<RemovedFiles> {
    return this.#db.transact(async (session) => {
      const removed = (await session.all<{ blob: string }>(sql, values)).map(({ blob }) => blob);
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
