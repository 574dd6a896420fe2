import type { FileBatch, FileBatchProgress, FileBatchRequest } from "./file-batch-store.ts";

/** As both databases have it. */
export interface FileBatchRow extends Omit<FileBatch, "request" | "progress"> {
  readonly request: string;
  readonly progress: string;
}

export const FILE_BATCH_COLUMNS = `id, account_id AS "accountId", created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs", request, progress,
  cancelling_at_ms AS "cancellingAtMs", ended_at_ms AS "endedAtMs"`;

export function fileBatchOf({ request, progress, ...row }: FileBatchRow): FileBatch {
  return {
    ...row,
    request: JSON.parse(request) as FileBatchRequest,
    progress: JSON.parse(progress) as FileBatchProgress,
  };
}
