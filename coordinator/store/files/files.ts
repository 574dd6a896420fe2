import { ServiceError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { read, write } from "../steps/steps.ts";
import { integer, key, nullable, Table, text, type RowOf } from "../steps/table.ts";
import { forKeyShare, forUpdate, jsonRows, oneOf, selectColumn, selectIds, type Tx } from "../steps/tx.ts";

/** Purposes of files, named as in the OpenAI API. Batches read `batch` files and write `batch_output` files. */
export const FILE_PURPOSES = [
  "assistants",
  "batch",
  "batch_output",
  "evals",
  "fine-tune",
  "user_data",
  "vision",
] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];

export const fileBlobTable = new Table("file_blobs", {
  name: key("PRIMARY KEY"),
  /** SHA-256 of the content, in hexadecimal. */
  sha256: key("UNIQUE"),
  sizeBytes: integer(),
});

export const fileTable = new Table(
  "files",
  {
    id: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    purpose: text<FilePurpose>(),
    /** File name without folders and control characters, at most 255 characters. */
    filename: text(),
    sizeBytes: integer(),
    /** Name of the content on disk. Files with equal content share it. */
    blob: key("REFERENCES file_blobs (name)"),
    createdAtMs: integer(),
    /** Time from which requests no longer find the file; null for never. */
    expiresAtMs: nullable(integer()),
  },
  {
    indexes: [
      "CREATE INDEX files_by_account ON files (account_id, id, size_bytes)",
      "CREATE INDEX files_by_blob ON files (blob)",
      "CREATE INDEX files_by_expiry ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL",
    ],
  },
);

export const fileHoldTable = new Table(
  "file_holds",
  {
    /** Id of the job or batch that needs the file. */
    jobId: key(),
    fileId: key("REFERENCES files (id) ON DELETE CASCADE"),
    madeAtMs: integer(),
  },
  {
    rules: ["PRIMARY KEY (file_id, job_id)"],
    indexes: ["CREATE INDEX file_holds_by_time ON file_holds (made_at_ms)"],
  },
);

export type FileRecord = RowOf<typeof fileTable> & Pick<RowOf<typeof fileBlobTable>, "sha256">;

/** Maximum count and total size of an account's files. */
interface FileBudget {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface FileUsage {
  readonly files: number;
  readonly bytes: number;
}

export interface FileList {
  /** Last file id of the previous page; null for the first page. */
  readonly afterId: string | null;
  readonly limit: number;
  readonly isNewestFirst: boolean;
  /** Null for files of all purposes. */
  readonly purpose: FilePurpose | null;
  /** Files that expired by this time are omitted. */
  readonly nowMs: number;
}

/** A file that a job or batch reads, which is kept until that job or batch has ended. */
export type FileHold = Omit<RowOf<typeof fileHoldTable>, "madeAtMs">;

/** Validity of a hold whose job or batch is not stored: its commit is in progress or failed. */
export const UNSTORED_HOLD_MS = 600_000;

export interface RemovedFiles {
  readonly files: number;
  /** Names of content that no file uses any more. Names are never reused. */
  readonly blobs: readonly string[];
}

/** Checks an account's budget. @throws {ServiceError} `file_budget_exceeded` if a file of this size would exceed it. */
export function assertFileFits(usage: FileUsage, sizeBytes: number, budget: FileBudget): void {
  if (usage.files >= budget.maxFiles) {
    const text = `The account has ${usage.files} files, the maximum; delete some`;
    throw new ServiceError("file_budget_exceeded", text);
  }
  if (usage.bytes + sizeBytes > budget.maxBytes) {
    const use = `The account's files use ${formatBytes(usage.bytes)} of ${formatBytes(budget.maxBytes)}`;
    const text = `${use}, and this file has ${formatBytes(sizeBytes)}; delete some`;
    throw new ServiceError("file_budget_exceeded", text);
  }
}

const FILE = `SELECT ${fileTable.all}, sha256 FROM files JOIN file_blobs ON name = blob`;
const UNEXPIRED = "account_id = @accountId AND (expires_at_ms IS NULL OR expires_at_ms > @nowMs)";
/** SQL: whether the job or batch of hold `h` is unfinished; null if neither is stored. */
const IS_NEEDED = `coalesce((SELECT state IN ('pending', 'queued', 'running') FROM jobs WHERE id = h.job_id),
  (SELECT ended_at_ms IS NULL FROM file_batches WHERE id = h.job_id))`;
/** SQL: whether hold `h` keeps its file. `@unstoredMs`: creation time after which an unstored job's hold is valid. */
const HOLDS = `coalesce(${IS_NEEDED}, h.made_at_ms > @unstoredMs)`;
const IS_FREE = `NOT EXISTS (SELECT 1 FROM file_holds h WHERE h.file_id = files.id AND ${HOLDS})`;

function usageOf(tx: Tx, accountId: string): Promise<FileUsage> {
  const sql =
    "SELECT count(*) AS files, coalesce(sum(size_bytes), 0) AS bytes FROM files WHERE account_id = @accountId";
  return tx.only(sql, { accountId });
}

/** Deletes the files that `find` selects, if `condition` is still true once they are locked, and unused content. */
async function remove(tx: Tx, find: string, condition: string, values: object): Promise<RemovedFiles> {
  const ids = await selectIds(tx, `${find} ${forUpdate(tx)}`, values);
  // The condition is checked again because a job may have taken a hold before the lock.
  const sql = `DELETE FROM files WHERE ${oneOf(tx, "id", "ids")} AND ${condition} RETURNING blob`;
  const names = await selectColumn(tx, "blob", sql, { ...values, ids });
  if (names.length === 0) return { files: 0, blobs: [] };
  // Locks in order of hash prevent a deadlock of two coordinators. After the lock, the check sees files just added.
  const contents = `FROM file_blobs WHERE ${oneOf(tx, "name", "names")}`;
  await tx.all(`SELECT name ${contents} ORDER BY sha256 ${forUpdate(tx)}`, { names });
  const unused = `DELETE ${contents} AND NOT EXISTS (SELECT 1 FROM files WHERE blob = file_blobs.name) RETURNING name`;
  return { files: names.length, blobs: await selectColumn(tx, "name", unused, { names }) };
}

/**
 * Metadata of files. Content is written to disk before its file is added here, and deleted after the removal of the
 * file has committed. A crash in between leaves only content that `withoutFile` finds.
 */
export const fileSteps = {
  /**
   * Adds a file and returns it as stored. If equal content exists, the returned `blob` differs from `file.blob`, and
   * the caller deletes its new content. @throws {ServiceError} `file_budget_exceeded`
   */
  add: write(async (tx, file: FileRecord, budget: FileBudget): Promise<FileRecord> => {
    await tx.lockAccount(file.accountId);
    assertFileFits(await usageOf(tx, file.accountId), file.sizeBytes, budget);
    // The no-op update locks existing content: a concurrent removal waits, and then sees the new file.
    const sql = `INSERT INTO file_blobs (name, sha256, size_bytes) VALUES (@blob, @sha256, @sizeBytes)
      ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256 RETURNING name`;
    const { name: blob } = await tx.only<{ name: string }>(sql, file);
    const stored = { ...file, blob };
    await fileTable.insert(tx, stored);
    return stored;
  }),

  /** Returns a file of the account; undefined if it is unknown or expired. */
  get: read(async (tx, accountId: string, id: string, nowMs: number) => {
    // PostgreSQL rejects a NUL character in a parameter, and a client may send one in JSON.
    if (id.includes("\0")) return undefined;
    return tx.one<FileRecord>(`${FILE} WHERE ${UNEXPIRED} AND id = @id`, { accountId, id, nowMs });
  }),

  list: read((tx, accountId: string, list: FileList) => {
    const [after, order] = list.isNewestFirst ? ["<", "DESC"] : [">", "ASC"];
    const sql = `${FILE} WHERE ${UNEXPIRED} AND (CAST(@afterId AS text) IS NULL OR id ${after} @afterId)
        AND (CAST(@purpose AS text) IS NULL OR purpose = @purpose)
      ORDER BY id ${order} LIMIT @limit`;
    return tx.all<FileRecord>(sql, { accountId, ...list });
  }),

  usage: read(usageOf),

  /** Returns the number of files of all accounts and the size of their content, where equal content counts once. */
  total: read((tx) => {
    const bytes = "SELECT coalesce(sum(size_bytes), 0) FROM file_blobs";
    return tx.only<FileUsage>(`SELECT (SELECT count(*) FROM files) AS files, (${bytes}) AS bytes`);
  }),

  /**
   * Holds files for jobs or batches that are stored next, so that `remove` and `removeExpired` keep them until these
   * have ended. Resolves with the ids of missing files; if any file is missing, holds none.
   */
  hold: write(async (tx, accountId: string, holds: readonly FileHold[], nowMs: number) => {
    const ids = [...new Set(holds.map(({ fileId }) => fileId))];
    // A concurrent removal waits for these locks, and then sees the holds.
    const find = `SELECT id FROM files WHERE ${oneOf(tx, "id", "ids")} AND ${UNEXPIRED} ORDER BY id ${forKeyShare(tx)}`;
    const known = new Set(await selectIds(tx, find, { accountId, ids, nowMs }));
    const missing = ids.filter((id) => !known.has(id));
    if (missing.length > 0) return missing;
    const sql = `INSERT INTO file_holds (job_id, file_id, made_at_ms)
      SELECT value->>'jobId', value->>'fileId', @nowMs FROM ${jsonRows(tx, "holds")} WHERE true ON CONFLICT DO NOTHING`;
    await tx.run(sql, { holds: JSON.stringify(holds), nowMs });
    return [];
  }),

  /** Deletes the holds of jobs or batches that were refused. */
  unhold: write(async (tx, holds: readonly FileHold[]): Promise<void> => {
    const sql = `DELETE FROM file_holds WHERE (file_id, job_id) IN (
      SELECT value->>'fileId', value->>'jobId' FROM ${jsonRows(tx, "holds")})`;
    await tx.run(sql, { holds: JSON.stringify(holds) });
  }),

  /** Returns a held file, even if expired; undefined once the job or batch has ended. */
  held: read((tx, { jobId, fileId }: FileHold) => {
    const sql = `${FILE} JOIN file_holds h ON file_id = files.id WHERE files.id = @fileId AND job_id = @jobId AND ${IS_NEEDED}`;
    return tx.one<FileRecord>(sql, { jobId, fileId });
  }),

  /** Deletes up to `limit` holds that no longer keep a file. Resolves with their number. */
  removeOldHolds: write((tx, nowMs: number, limit: number) => {
    const sql = `DELETE FROM file_holds WHERE (file_id, job_id) IN (
      SELECT file_id, job_id FROM file_holds h WHERE made_at_ms <= @unstoredMs AND NOT ${HOLDS} LIMIT @limit)`;
    return tx.run(sql, { unstoredMs: nowMs - UNSTORED_HOLD_MS, limit });
  }),

  /** Removes a file. No-op if the account has no such file, or if a job or batch holds it. */
  remove: write((tx, accountId: string, id: string, nowMs: number) => {
    const find = `SELECT id FROM files WHERE id = @id AND account_id = @accountId AND ${IS_FREE}`;
    return remove(tx, find, IS_FREE, { accountId, id, unstoredMs: nowMs - UNSTORED_HOLD_MS });
  }),

  /** Removes up to `limit` expired files without a hold. */
  removeExpired: write((tx, nowMs: number, limit: number) => {
    const find = `SELECT id FROM files WHERE expires_at_ms <= @nowMs AND ${IS_FREE} ORDER BY expires_at_ms, id LIMIT @limit`;
    return remove(tx, find, IS_FREE, { nowMs, limit, unstoredMs: nowMs - UNSTORED_HOLD_MS });
  }),

  /** Removes up to `limit` files of the account, including held files. */
  removeOfAccount: write((tx, accountId: string, limit: number) => {
    const find = "SELECT id FROM files WHERE account_id = @accountId ORDER BY id LIMIT @limit";
    return remove(tx, find, "true", { accountId, limit });
  }),

  /** Returns the names whose content no file uses. */
  withoutFile: read(async (tx, blobs: readonly string[]) => {
    const sql = `SELECT name FROM file_blobs WHERE ${oneOf(tx, "name", "blobs")}`;
    const known = new Set(await selectColumn(tx, "name", sql, { blobs }));
    return blobs.filter((name) => !known.has(name));
  }),
};
