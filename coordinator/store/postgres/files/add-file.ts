import { assertFileFits } from "../../file-budget.ts";
import type { FileBudget, FileRecord, FileUsage } from "../../file-store.ts";
import type { Session } from "../engine/connection.ts";

/** Parts of uploads count as the file that they become. */
const USAGE = `SELECT coalesce(sum(files), 0)::bigint AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM (
  SELECT account_id, 1 AS files, size_bytes AS bytes FROM files
  UNION ALL SELECT account_id, 0, size_bytes FROM upload_parts) AS kept WHERE account_id = $1`;

export async function usageOf(session: Session, accountId: string): Promise<FileUsage> {
  return (await session.one<FileUsage>(USAGE, [accountId])) ?? { files: 0, bytes: 0 };
}

/** One change of an account's files after the other: each is counted. */
export async function lockFilesOf(session: Session, accountId: string): Promise<void> {
  await session.one("SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE", [accountId]);
}

/** To be called in a transaction that has {@link lockFilesOf} the account. @throws {ServiceError} `file_budget_exceeded` */
export async function addFile(session: Session, file: FileRecord, budget: FileBudget): Promise<FileRecord> {
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
