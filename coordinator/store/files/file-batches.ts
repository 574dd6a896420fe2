import type { UsedKey } from "../accounts/key-spending.ts";
import { read, write } from "../steps/steps.ts";
import { integer, json, key, nullable, Table, type RowOf } from "../steps/table.ts";
import { countRows, inRows, skipLocked } from "../steps/tx.ts";

/** States of a file batch, named as in the OpenAI API. */
export const FILE_BATCH_STATES = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled",
] as const;
export type FileBatchState = (typeof FILE_BATCH_STATES)[number];

/** An error of a failed batch. `line`: line of the input file, from 1; null if the error does not concern a line. */
export interface FileBatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** What the client requested, in the body or by its credential. */
export interface FileBatchRequest {
  /** API path of each request, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly completionWindow: "24h";
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Lifetime of the batch's output files; null for the default lifetime. */
  readonly outputExpiresAfterMs: number | null;
  /** API key of the request, whose limits apply to the jobs; null for a session. */
  readonly apiKey: UsedKey | null;
}

/** Progress of a batch. The coordinator that runs the batch stores it periodically. */
export interface FileBatchProgress {
  readonly state: FileBatchState;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly errors: readonly FileBatchError[];
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  readonly inProgressAtMs: number | null;
  readonly finalizingAtMs: number | null;
}

/** A lease on a batch, which lets one coordinator at a time run it. */
interface FileBatchLease {
  readonly id: string;
  readonly ownerId: string;
  readonly untilMs: number;
}

/** Batches over an input file. Each line runs as an ordinary job; the results are written to output files. */
export const fileBatchTable = new Table(
  "file_batches",
  {
    id: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    createdAtMs: integer(),
    expiresAtMs: integer(),
    request: json<FileBatchRequest>(),
    progress: json<FileBatchProgress>(),
    /** Time when the client requested cancellation; null if it did not. */
    cancellingAtMs: nullable(integer()),
    endedAtMs: nullable(integer()),
    /** Id of the coordinator that runs the batch; null if no coordinator does. */
    leaseOwner: nullable(key()),
    leaseUntilMs: integer("DEFAULT 0"),
  },
  {
    indexes: [
      "CREATE INDEX file_batches_by_account ON file_batches (account_id, id)",
      "CREATE INDEX file_batches_open ON file_batches (id) WHERE ended_at_ms IS NULL",
    ],
  },
);
export type FileBatch = Omit<RowOf<typeof fileBatchTable>, "leaseOwner" | "leaseUntilMs">;
export type NewFileBatch = Omit<FileBatch, "cancellingAtMs" | "endedAtMs">;

const BATCH = fileBatchTable.columnsBut("leaseOwner", "leaseUntilMs");
const SELECT = `SELECT ${BATCH} FROM file_batches WHERE account_id = @accountId`;
const LEASED = "id = @id AND lease_owner = @ownerId AND ended_at_ms IS NULL";

/** Steps on file batches. `get` and `list` see only the given account's batches. */
export const fileBatchSteps = {
  /** Stores a batch. Returns false if the account has `maxOpen` unfinished batches. */
  add: write(async (tx, batch: NewFileBatch, maxOpen: number) => {
    await tx.lockAccount(batch.accountId);
    const open = "FROM file_batches WHERE account_id = @accountId AND ended_at_ms IS NULL";
    if ((await countRows(tx, open, { accountId: batch.accountId })) >= maxOpen) return false;
    await fileBatchTable.insert(tx, batch);
    return true;
  }),

  get: read((tx, accountId: string, id: string) =>
    fileBatchTable.row<FileBatch>(tx, `${SELECT} AND id = @id`, { accountId, id }),
  ),

  /** Returns a page of batches, newest first. `afterId`: last id of the previous page; null for the first page. */
  list: read((tx, accountId: string, page: { readonly afterId: string | null; readonly limit: number }) => {
    const sql = `${SELECT} AND (CAST(@afterId AS text) IS NULL OR id < @afterId) ORDER BY id DESC LIMIT @limit`;
    return fileBatchTable.rows<FileBatch>(tx, sql, { accountId, ...page });
  }),

  /** Requests cancellation. Returns false if the batch has ended or is already being cancelled. */
  cancel: write(async (tx, accountId: string, id: string, atMs: number) => {
    const sql = `UPDATE file_batches SET cancelling_at_ms = @atMs
      WHERE id = @id AND account_id = @accountId AND ended_at_ms IS NULL AND cancelling_at_ms IS NULL`;
    return (await tx.run(sql, { accountId, id, atMs })) === 1;
  }),

  hasUnleased: read(async (tx, nowMs: number) => {
    const sql = "SELECT 1 FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= @nowMs LIMIT 1";
    return (await tx.one(sql, { nowMs })) !== undefined;
  }),

  /** Leases unfinished batches without a valid lease, oldest first, and returns them. */
  lease: write((tx, by: Omit<FileBatchLease, "id">, nowMs: number, limit: number) => {
    const unleased = `SELECT id FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= @nowMs
      ORDER BY id LIMIT @limit ${skipLocked(tx)}`;
    const sql = `UPDATE file_batches SET lease_owner = @ownerId, lease_until_ms = @untilMs
      WHERE id ${inRows(tx, unleased)} RETURNING ${BATCH}`;
    return fileBatchTable.rows<FileBatch>(tx, sql, { ...by, nowMs, limit });
  }),

  /**
   * Stores the progress and renews the lease. Returns undefined if the batch ended or another coordinator leases it.
   */
  save: write((tx, lease: FileBatchLease, progress: FileBatchProgress) => {
    const sql = `UPDATE file_batches SET progress = @progress, lease_until_ms = @untilMs WHERE ${LEASED}
      RETURNING ${fileBatchTable.columns("cancellingAtMs")}`;
    return fileBatchTable.row<Pick<FileBatch, "cancellingAtMs">>(tx, sql, { ...lease, progress });
  }),

  /** Stores the end and releases the lease. Returns false if the batch ended or another coordinator leases it. */
  end: write(async (tx, lease: Omit<FileBatchLease, "untilMs">, progress: FileBatchProgress, atMs: number) => {
    const sql = `UPDATE file_batches SET progress = @progress, ended_at_ms = @atMs, lease_owner = NULL WHERE ${LEASED}`;
    return (await fileBatchTable.run(tx, sql, { ...lease, progress, atMs })) === 1;
  }),

  /** Releases all leases of a coordinator that is stopping. */
  release: write(async (tx, ownerId: string): Promise<void> => {
    const sql = `UPDATE file_batches SET lease_owner = NULL, lease_until_ms = 0
      WHERE lease_owner = @ownerId AND ended_at_ms IS NULL`;
    await tx.run(sql, { ownerId });
  }),

  removeOfAccount: write(async (tx, accountId: string): Promise<void> => {
    await tx.run("DELETE FROM file_batches WHERE account_id = @accountId", { accountId });
  }),
};
