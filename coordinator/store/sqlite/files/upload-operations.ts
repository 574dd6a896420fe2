import type Database from "better-sqlite3";
import { assertFileFits } from "../../file-budget.ts";
import type { FileUsage } from "../../file-store.ts";
import { assertFewPending, assertPartFits, assertPending, type PartUsage } from "../../upload-guards.ts";
import type { Completion, PartLimits, RemovedUpload, UploadPart, UploadRecord } from "../../upload-store.ts";
import { FILE_USAGE, type FileOperations } from "./file-operations.ts";

export interface UploadOperations {
  addUpload(args: { upload: UploadRecord; maxPending: number }): void;
  addUploadPart(args: { part: UploadPart; limits: PartLimits }): UploadPart;
  /** Returns the name of the content that the file has. */
  completeUpload(args: { completion: Completion; nowMs: number }): string;
  cancelUpload(args: { accountId: string; id: string }): boolean;
  removeExpiredUploads(args: { nowMs: number; limit: number }): RemovedUpload[];
  removeUploadsOfAccount(args: { accountId: string; limit: number }): RemovedUpload[];
}

export const SELECT_UPLOAD = `SELECT id, account_id AS accountId, purpose, filename, size_bytes AS sizeBytes,
  file_life_ms AS fileLifeMs, state, file_id AS fileId, parts_hash AS partsHash, created_at_ms AS createdAtMs,
  expires_at_ms AS expiresAtMs FROM uploads WHERE id = ?`;
export const SELECT_PARTS = `SELECT id, upload_id AS uploadId, size_bytes AS sizeBytes, sha256, created_at_ms AS createdAtMs
  FROM upload_parts WHERE upload_id = ?`;

export function uploadOperations(
  db: Database.Database,
  { addFile }: Pick<FileOperations, "addFile">,
): UploadOperations {
  const usage = db.prepare<[string], FileUsage>(FILE_USAGE);
  const usageOf = (accountId: string): FileUsage => usage.get(accountId) ?? { files: 0, bytes: 0 };
  const find = db.prepare<[string], UploadRecord>(SELECT_UPLOAD);
  const countPending = db
    .prepare<[string, number], number>(
      "SELECT count(*) FROM uploads WHERE account_id = ? AND state = 'pending' AND expires_at_ms > ?",
    )
    .pluck();
  const add = db.prepare<UploadRecord>(
    `INSERT INTO uploads (id, account_id, purpose, filename, size_bytes, file_life_ms, state, created_at_ms, expires_at_ms)
     VALUES (@id, @accountId, @purpose, @filename, @sizeBytes, @fileLifeMs, @state, @createdAtMs, @expiresAtMs)`,
  );
  const findPart = db.prepare<[string, string], UploadPart>(`${SELECT_PARTS} AND sha256 = ?`);
  const partUsage = db.prepare<[string], PartUsage>(
    "SELECT count(*) AS parts, coalesce(sum(size_bytes), 0) AS bytes FROM upload_parts WHERE upload_id = ?",
  );
  const partUsageOf = (id: string): PartUsage => partUsage.get(id) ?? { parts: 0, bytes: 0 };
  const addPart = db.prepare<UploadPart & { readonly accountId: string }>(
    `INSERT INTO upload_parts (id, upload_id, account_id, size_bytes, sha256, created_at_ms)
     VALUES (@id, @uploadId, @accountId, @sizeBytes, @sha256, @createdAtMs)`,
  );
  const extend = db.prepare<[number, string]>("UPDATE uploads SET expires_at_ms = max(expires_at_ms, ?) WHERE id = ?");
  const removeParts = db.prepare<[string]>("DELETE FROM upload_parts WHERE upload_id = ?");
  const complete = db.prepare<[string, string, string]>(
    "UPDATE uploads SET state = 'completed', file_id = ?, parts_hash = ? WHERE id = ?",
  );
  const cancel = db.prepare<[string, string]>(
    "UPDATE uploads SET state = 'cancelled' WHERE id = ? AND account_id = ? AND state = 'pending'",
  );
  const removeExpired = db.prepare<[number, number], RemovedUpload>(
    `DELETE FROM uploads WHERE id IN (
       SELECT id FROM uploads WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?) RETURNING id, state`,
  );
  const removeOfAccount = db.prepare<[string, number], RemovedUpload>(
    "DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE account_id = ? LIMIT ?) RETURNING id, state",
  );
  return {
    addUpload({ upload, maxPending }) {
      assertFewPending(countPending.get(upload.accountId, upload.createdAtMs) ?? 0, maxPending);
      add.run(upload);
    },
    addUploadPart({ part, limits }) {
      const upload = find.get(part.uploadId);
      assertPending(upload, part.createdAtMs);
      const same = findPart.get(part.uploadId, part.sha256);
      if (same !== undefined) return same;
      assertPartFits(part, upload, partUsageOf(upload.id), usageOf(upload.accountId), limits);
      addPart.run({ ...part, accountId: upload.accountId });
      extend.run(limits.expiresAtMs, upload.id);
      return part;
    },
    completeUpload({ completion: { uploadId, partsHash, file, budget }, nowMs }) {
      assertPending(find.get(uploadId), nowMs);
      const { files, bytes } = usageOf(file.accountId);
      // The parts become the file: they are not counted beside it.
      assertFileFits({ files, bytes: bytes - partUsageOf(uploadId).bytes }, file.sizeBytes, budget);
      removeParts.run(uploadId);
      complete.run(file.id, partsHash, uploadId);
      return addFile({ file, budget });
    },
    cancelUpload({ accountId, id }) {
      const isCancelled = cancel.run(id, accountId).changes > 0;
      if (isCancelled) removeParts.run(id);
      return isCancelled;
    },
    removeExpiredUploads: ({ nowMs, limit }) => removeExpired.all(nowMs, limit),
    removeUploadsOfAccount: ({ accountId, limit }) => removeOfAccount.all(accountId, limit),
  };
}
