import type Database from "better-sqlite3";
import { assertFileFits } from "../../file-budget.ts";
import {
  UNSTORED_HOLD_MS,
  type FileBudget,
  type FileHold,
  type FileRecord,
  type FileUsage,
  type RemovedFiles,
} from "../../file-store.ts";

export interface FileOperations {
  /** Returns the name of the content that the file has. */
  addFile(args: { file: FileRecord; budget: FileBudget }): string;
  /** Returns the ids of those that do not exist. */
  holdFiles(args: { accountId: string; holds: readonly FileHold[]; nowMs: number }): string[];
  unholdFiles(args: { holds: readonly FileHold[] }): void;
  removeOldHolds(args: { nowMs: number; limit: number }): number;
  removeFile(args: { accountId: string; id: string; nowMs: number }): RemovedFiles;
  removeExpiredFiles(args: { nowMs: number; limit: number }): RemovedFiles;
  removeFilesOfAccount(args: { accountId: string; limit: number }): RemovedFiles;
}

export const FILE_USAGE =
  "SELECT count(*) AS files, coalesce(sum(size_bytes), 0) AS bytes FROM files WHERE account_id = ?";

/** Whether the job or batch of the hold `h` goes on; null while neither is stored. */
export const IS_NEEDED = `coalesce((SELECT state IN ('pending', 'queued', 'running') FROM jobs WHERE id = h.job_id),
  (SELECT ended_at_ms IS NULL FROM file_batches WHERE id = h.job_id))`;
/** Whether the hold `h` keeps its file. Takes the earliest time of a hold whose job or batch is not stored. */
const HOLDS = `coalesce(${IS_NEEDED}, h.made_at_ms > ?)`;
const IS_FREE = `NOT EXISTS (SELECT 1 FROM file_holds h WHERE h.file_id = files.id AND ${HOLDS})`;

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
  const exists = db
    .prepare<[string, string, number], 1>(
      "SELECT 1 FROM files WHERE id = ? AND account_id = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)",
    )
    .pluck();
  const hold = db.prepare<[string, string, number]>(
    "INSERT INTO file_holds (job_id, file_id, made_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const unhold = db.prepare<[string, string]>("DELETE FROM file_holds WHERE file_id = ? AND job_id = ?");
  const removeHolds = db.prepare<[number, number, number]>(
    `DELETE FROM file_holds WHERE (file_id, job_id) IN (
       SELECT file_id, job_id FROM file_holds h WHERE made_at_ms <= ? AND NOT ${HOLDS} LIMIT ?)`,
  );
  const remove = db.prepare<[string, string, number], string>(
    `DELETE FROM files WHERE id = ? AND account_id = ? AND ${IS_FREE} RETURNING blob`,
  );
  const removeExpired = db.prepare<[number, number, number], string>(
    `DELETE FROM files WHERE id IN (
       SELECT id FROM files WHERE expires_at_ms <= ? AND ${IS_FREE} ORDER BY expires_at_ms LIMIT ?) RETURNING blob`,
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
    holdFiles({ accountId, holds, nowMs }) {
      const missing = holds.map(({ fileId }) => fileId).filter((id) => exists.get(id, accountId, nowMs) === undefined);
      if (missing.length === 0) for (const { jobId, fileId } of holds) hold.run(jobId, fileId, nowMs);
      return [...new Set(missing)];
    },
    unholdFiles({ holds }) {
      for (const { jobId, fileId } of holds) unhold.run(fileId, jobId);
    },
    removeOldHolds({ nowMs, limit }) {
      const unstoredSinceMs = nowMs - UNSTORED_HOLD_MS;
      return removeHolds.run(unstoredSinceMs, unstoredSinceMs, limit).changes;
    },
    removeFile: ({ accountId, id, nowMs }) =>
      withoutUnused(remove.pluck().all(id, accountId, nowMs - UNSTORED_HOLD_MS)),
    removeExpiredFiles: ({ nowMs, limit }) =>
      withoutUnused(removeExpired.pluck().all(nowMs, nowMs - UNSTORED_HOLD_MS, limit)),
    removeFilesOfAccount: ({ accountId, limit }) => withoutUnused(removeOfAccount.pluck().all(accountId, limit)),
  };
}
