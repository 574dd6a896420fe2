import type Database from "better-sqlite3";
import { FILE_BATCH_COLUMNS, type FileBatchRow } from "../../file-batch-rows.ts";
import type { FileBatchLease, NewFileBatch } from "../../file-batch-store.ts";

export interface FileBatchOperations {
  /** False if the account has `maxOpen` that have not ended. */
  addFileBatch(args: { batch: NewFileBatch; maxOpen: number }): boolean;
  cancelFileBatch(args: { accountId: string; id: string; atMs: number }): boolean;
  leaseFileBatches(args: { ownerId: string; untilMs: number; nowMs: number; limit: number }): FileBatchRow[];
  /** Undefined when another has the lease. `progress`: JSON. */
  saveFileBatch(args: FileBatchLease & { progress: string }): { cancellingAtMs: number | null } | undefined;
  endFileBatch(args: { id: string; ownerId: string; progress: string; atMs: number }): boolean;
  releaseFileBatches(args: { ownerId: string }): void;
  removeFileBatchesOfAccount(args: { accountId: string }): void;
}

type ArgsOf<K extends keyof FileBatchOperations> = Parameters<FileBatchOperations[K]>[0];

export function fileBatchOperations(db: Database.Database): FileBatchOperations {
  const countOpen = db
    .prepare<[string], number>("SELECT count(*) FROM file_batches WHERE account_id = ? AND ended_at_ms IS NULL")
    .pluck();
  const add = db.prepare(
    `INSERT INTO file_batches (id, account_id, created_at_ms, expires_at_ms, request, progress)
     VALUES (@id, @accountId, @createdAtMs, @expiresAtMs, @request, @progress)`,
  );
  const cancel = db.prepare<ArgsOf<"cancelFileBatch">>(
    `UPDATE file_batches SET cancelling_at_ms = @atMs
     WHERE id = @id AND account_id = @accountId AND ended_at_ms IS NULL AND cancelling_at_ms IS NULL`,
  );
  const lease = db.prepare<ArgsOf<"leaseFileBatches">, FileBatchRow>(
    `UPDATE file_batches SET lease_owner = @ownerId, lease_until_ms = @untilMs WHERE id IN (
       SELECT id FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= @nowMs ORDER BY id LIMIT @limit)
     RETURNING ${FILE_BATCH_COLUMNS}`,
  );
  const save = db.prepare<ArgsOf<"saveFileBatch">, { cancellingAtMs: number | null }>(
    `UPDATE file_batches SET progress = @progress, lease_until_ms = @untilMs
     WHERE id = @id AND lease_owner = @ownerId AND ended_at_ms IS NULL RETURNING cancelling_at_ms AS cancellingAtMs`,
  );
  const end = db.prepare<ArgsOf<"endFileBatch">>(
    `UPDATE file_batches SET progress = @progress, ended_at_ms = @atMs, lease_owner = NULL
     WHERE id = @id AND lease_owner = @ownerId AND ended_at_ms IS NULL`,
  );
  const release = db.prepare<ArgsOf<"releaseFileBatches">>(
    "UPDATE file_batches SET lease_owner = NULL, lease_until_ms = 0 WHERE lease_owner = @ownerId AND ended_at_ms IS NULL",
  );
  const remove = db.prepare<ArgsOf<"removeFileBatchesOfAccount">>(
    "DELETE FROM file_batches WHERE account_id = @accountId",
  );
  return {
    addFileBatch({ batch, maxOpen }) {
      if ((countOpen.get(batch.accountId) ?? 0) >= maxOpen) return false;
      add.run({ ...batch, request: JSON.stringify(batch.request), progress: JSON.stringify(batch.progress) });
      return true;
    },
    cancelFileBatch: (args) => cancel.run(args).changes > 0,
    leaseFileBatches: (args) => lease.all(args),
    saveFileBatch: (args) => save.get(args),
    endFileBatch: (args) => end.run(args).changes > 0,
    releaseFileBatches: (args) => void release.run(args),
    removeFileBatchesOfAccount: (args) => void remove.run(args),
  };
}
