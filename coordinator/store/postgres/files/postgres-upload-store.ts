import type { FileRecord } from "../../file-store.ts";
import { assertFewPending, assertPartFits, assertPending, type PartUsage } from "../../upload-guards.ts";
import type {
  Completion,
  PartLimits,
  RemovedUpload,
  UploadPart,
  UploadRecord,
  UploadStore,
} from "../../upload-store.ts";
import type { Session } from "../engine/connection.ts";
import type { Database } from "../engine/database.ts";
import { addFile, lockFilesOf, usageOf } from "./add-file.ts";

const SELECT = `SELECT id, account_id AS "accountId", purpose, filename, size_bytes AS "sizeBytes",
  file_life_ms AS "fileLifeMs", state, file_id AS "fileId", parts_hash AS "partsHash", created_at_ms AS "createdAtMs",
  expires_at_ms AS "expiresAtMs" FROM uploads WHERE id = $1`;
const SELECT_PARTS = `SELECT id, upload_id AS "uploadId", size_bytes AS "sizeBytes", sha256, created_at_ms AS "createdAtMs"
  FROM upload_parts WHERE upload_id = $1`;
const PART_USAGE =
  "SELECT count(*) AS parts, coalesce(sum(size_bytes), 0)::bigint AS bytes FROM upload_parts WHERE upload_id = $1";

/** Whoever changes an upload locks its account first, then the upload. */
export class PostgresUploadStore implements UploadStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(upload: UploadRecord, maxPending: number): Promise<void> {
    return this.#db.transact(async (session) => {
      await lockFilesOf(session, upload.accountId);
      const pending = await session.one<{ count: number }>(
        "SELECT count(*) FROM uploads WHERE account_id = $1 AND state = 'pending' AND expires_at_ms > $2",
        [upload.accountId, upload.createdAtMs],
      );
      assertFewPending(pending?.count ?? 0, maxPending);
      await session.run(
        `INSERT INTO uploads (id, account_id, purpose, filename, size_bytes, file_life_ms, state, created_at_ms, expires_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          upload.id,
          upload.accountId,
          upload.purpose,
          upload.filename,
          upload.sizeBytes,
          upload.fileLifeMs,
          upload.state,
          upload.createdAtMs,
          upload.expiresAtMs,
        ],
      );
    });
  }

  get(accountId: string, id: string): Promise<UploadRecord | undefined> {
    return this.#db.use((session) => session.one<UploadRecord>(`${SELECT} AND account_id = $2`, [id, accountId]));
  }

  parts(uploadId: string): Promise<UploadPart[]> {
    return this.#db.use((session) => session.all<UploadPart>(`${SELECT_PARTS} ORDER BY id`, [uploadId]));
  }

  addPart(part: UploadPart, limits: PartLimits): Promise<UploadPart> {
    return this.#db.transact(async (session) => {
      const upload = await lockUpload(session, part.uploadId);
      assertPending(upload, part.createdAtMs);
      const same = await session.one<UploadPart>(`${SELECT_PARTS} AND sha256 = $2`, [upload.id, part.sha256]);
      if (same !== undefined) return same;
      const [has, account] = [await partUsageOf(session, upload.id), await usageOf(session, upload.accountId)];
      assertPartFits(part, upload, has, account, limits);
      await session.run(
        `INSERT INTO upload_parts (id, upload_id, account_id, size_bytes, sha256, created_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [part.id, part.uploadId, upload.accountId, part.sizeBytes, part.sha256, part.createdAtMs],
      );
      await session.run("UPDATE uploads SET expires_at_ms = greatest(expires_at_ms, $2) WHERE id = $1", [
        upload.id,
        limits.expiresAtMs,
      ]);
      return part;
    });
  }

  complete({ uploadId, partsHash, file, budget }: Completion, nowMs: number): Promise<FileRecord> {
    return this.#db.transact(async (session) => {
      assertPending(await lockUpload(session, uploadId), nowMs);
      // The parts become the file: they are not counted beside it.
      await session.run("DELETE FROM upload_parts WHERE upload_id = $1", [uploadId]);
      await session.run("UPDATE uploads SET state = 'completed', file_id = $2, parts_hash = $3 WHERE id = $1", [
        uploadId,
        file.id,
        partsHash,
      ]);
      return addFile(session, file, budget);
    });
  }

  cancel(accountId: string, id: string): Promise<boolean> {
    return this.#db.transact(async (session) => {
      const cancelled = await session.run(
        "UPDATE uploads SET state = 'cancelled' WHERE id = $1 AND account_id = $2 AND state = 'pending'",
        [id, accountId],
      );
      if (cancelled > 0) await session.run("DELETE FROM upload_parts WHERE upload_id = $1", [id]);
      return cancelled > 0;
    });
  }

  removeExpired(nowMs: number, limit: number): Promise<RemovedUpload[]> {
    const sql = `DELETE FROM uploads WHERE id = ANY (ARRAY(SELECT id FROM uploads WHERE expires_at_ms <= $1
      ORDER BY expires_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING id, state`;
    return this.#db.transact((session) => session.all<RemovedUpload>(sql, [nowMs, limit]));
  }

  removeOfAccount(accountId: string, limit: number): Promise<RemovedUpload[]> {
    const sql = `DELETE FROM uploads WHERE id = ANY (ARRAY(SELECT id FROM uploads WHERE account_id = $1
      ORDER BY id LIMIT $2)) RETURNING id, state`;
    return this.#db.transact((session) => session.all<RemovedUpload>(sql, [accountId, limit]));
  }

  withoutParts(ids: readonly string[]): Promise<string[]> {
    return this.#db.use(async (session) => {
      const sql = "SELECT id FROM uploads WHERE id = ANY ($1::text[]) AND state = 'pending'";
      const pending = new Set((await session.all<{ id: string }>(sql, [ids])).map(({ id }) => id));
      return ids.filter((id) => !pending.has(id));
    });
  }
}

async function lockUpload(session: Session, id: string): Promise<UploadRecord | undefined> {
  const upload = await session.one<UploadRecord>(SELECT, [id]);
  if (upload === undefined) return undefined;
  await lockFilesOf(session, upload.accountId);
  return session.one<UploadRecord>(`${SELECT} FOR UPDATE`, [id]);
}

async function partUsageOf(session: Session, uploadId: string): Promise<PartUsage> {
  return (await session.one<PartUsage>(PART_USAGE, [uploadId])) ?? { parts: 0, bytes: 0 };
}
