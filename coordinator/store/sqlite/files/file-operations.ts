import type Database from "better-sqlite3";
import { assertFileFits } from "../../file-budget.ts";
import type { FileBudget, FileRecord, FileUsage, RemovedFiles } from "../../file-store.ts";

export interface FileOperations {
  /** Returns the name of the content that the file has. */
  addFile(args: { file: FileRecord; budget: FileBudget }): string;
  removeFile(args: { accountId: string; id: string }): RemovedFiles;
  removeExpiredFiles(args: { nowMs: number; limit: number }): RemovedFiles;
  removeFilesOfAccount(args: { accountId: string; limit: number }): RemovedFiles;
}

/** Parts of uploads count as the file that they become. */
export const FILE_USAGE = `SELECT coalesce(sum(files), 0) AS files, coalesce(sum(bytes), 0) AS bytes FROM (
  SELECT account_id, 1 AS files, size_bytes AS bytes FROM files
  UNION ALL SELECT account_id, 0, size_bytes FROM upload_parts) WHERE account_id = ?`;

export function fileOperations(db: Database.Database): FileOperations {
  const usage = db.prepare<[string], FileUsage>(FILE_USAGE);
  const findBlob = db.prepare<[string], string>("SELECT name FROM file_blobs WHERE sha256 = ?").pluck();
  const addBlob = db.prepare<FileRecord>(
    "INSERT INTO file_blobs (name, sha256, size_bytes) VALUES (@blob, @sha256, @sizeBytes)",
  );
  const add = db.prepare<FileRecord>(
    `INSERT INTO files (id, account_id, purpose, filename, size_bytes, blob, created_at_ms, expires_at_ms)
     VALUES (@id, @accountId, @purpose, @filename, @sizeBytes, @blob, @createdAtMs, @expiresAtMs)`,
  );
  const remove = db.prepare<[string, string], string>(
    "DELETE FROM files WHERE id = ? AND account_id = ? RETURNING blob",
  );
  const removeExpired = db.prepare<[number, number], string>(
    `DELETE FROM files WHERE id IN (
       SELECT id FROM files WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?) RETURNING blob`,
  );
  const removeOfAccount = db.prepare<[string, number], string>(
    "DELETE FROM files WHERE id IN (SELECT id FROM files WHERE account_id = ? LIMIT ?) RETURNING blob",
  );
  const removeBlob = db.prepare<{ name: string }>(
    "DELETE FROM file_blobs WHERE name = @name AND NOT EXISTS (SELECT 1 FROM files WHERE blob = @name)",
  );
  const withoutUnused = (blobs: string[]): RemovedFiles => ({
    files: blobs.length,
    blobs: [...new Set(blobs)].filter((name) => removeBlob.run({ name }).changes > 0),
  });
  return {
    addFile({ file, budget }) {
      assertFileFits(usage.get(file.accountId) ?? { files: 0, bytes: 0 }, file.sizeBytes, budget);
      const blob = findBlob.get(file.sha256);
      if (blob === undefined) addBlob.run(file);
      add.run({ ...file, blob: blob ?? file.blob });
      return blob ?? file.blob;
    },
    removeFile: ({ accountId, id }) => withoutUnused(remove.pluck().all(id, accountId)),
    removeExpiredFiles: ({ nowMs, limit }) => withoutUnused(removeExpired.pluck().all(nowMs, limit)),
    removeFilesOfAccount: ({ accountId, limit }) => withoutUnused(removeOfAccount.pluck().all(accountId, limit)),
  };
}
