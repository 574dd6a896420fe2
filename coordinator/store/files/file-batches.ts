import type { UsedKey } from "../accounts/key-spending.ts";
import { read, write } from "../steps/steps.ts";
import { integer, json, key, nullable, Table, type RowOf } from "../steps/table.ts";
import { inRows, skipLocked } from "../steps/tx.ts";

/** In OpenAI's words. */
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

/** Why a batch failed. `line`: of the input, from 1; null: not about a line. */
export interface FileBatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  readonly line: number | null;
}

/** What the client asked for; it never changes. */
export interface FileBatchRequest {
  /** Path of the API, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly inputFileId: string;
  readonly completionWindow: "24h";
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Of the files that it makes; null: as long as files are kept. */
  readonly outputExpiresAfterMs: number | null;
  /** The API key that it was made with, whose limits its jobs keep; null: by a session. */
  readonly apiKey: UsedKey | null;
}

/** How far it is, as who runs it says now and then. */
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

/** One coordinator runs a batch at a time: the one whose lease lasts. */
interface FileBatchLease {
  readonly id: string;
  readonly ownerId: string;
  readonly untilMs: number;
}

/** Batches over files. The lines' jobs are jobs as any other, and their results are in files. */
export const fileBatchTable = new Table(
  "file_batches",
  {
    id: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    createdAtMs: integer(),
    /** End of the time that it may take. */
    expiresAtMs: integer(),
    request: json<FileBatchRequest>(),
    progress: json<FileBatchProgress>(),
    /** When the client asked to cancel it. */
    cancellingAtMs: nullable(integer()),
    endedAtMs: nullable(integer()),
    /** The coordinator that runs it; null: none. */
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

export const fileBatchSteps = {
  /** False, and nothing is stored, if the account has `maxOpen` that have not ended. */
  add: write(async (tx, batch: NewFileBatch, maxOpen: number) => {
    await tx.lockAccount(batch.accountId);
    const count = "SELECT count(*) AS open FROM file_batches WHERE account_id = @accountId AND ended_at_ms IS NULL";
    const { open } = await tx.only<{ open: number }>(count, { accountId: batch.accountId });
    if (open >= maxOpen) return false;
    await fileBatchTable.insert(tx, batch);
    return true;
  }),

  /** Another account's batch does not exist. */
  get: read((tx, accountId: string, id: string) =>
    fileBatchTable.row<FileBatch>(tx, `${SELECT} AND id = @id`, { accountId, id }),
  ),

  /** Newest first. `afterId`: the id before the page. */
  list: read((tx, accountId: string, page: { readonly afterId: string | null; readonly limit: number }) => {
    const sql = `${SELECT} AND (CAST(@afterId AS text) IS NULL OR id < @afterId) ORDER BY id DESC LIMIT @limit`;
    return fileBatchTable.rows<FileBatch>(tx, sql, { accountId, ...page });
  }),

  /** Asks the coordinator that runs it to cancel it. False if it has ended, or is being cancelled already. */
  cancel: write(async (tx, accountId: string, id: string, atMs: number) => {
    const sql = `UPDATE file_batches SET cancelling_at_ms = @atMs
      WHERE id = @id AND account_id = @accountId AND ended_at_ms IS NULL AND cancelling_at_ms IS NULL`;
    return (await tx.run(sql, { accountId, id, atMs })) === 1;
  }),

  /** Whether there are batches to lease. */
  hasUnleased: read(async (tx, nowMs: number) => {
    const sql = "SELECT 1 FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= @nowMs LIMIT 1";
    return (await tx.one(sql, { nowMs })) !== undefined;
  }),

  /** Takes batches that have not ended and that no coordinator runs, oldest first. */
  lease: write((tx, by: Omit<FileBatchLease, "id">, nowMs: number, limit: number) => {
    const unleased = `SELECT id FROM file_batches WHERE ended_at_ms IS NULL AND lease_until_ms <= @nowMs
      ORDER BY id LIMIT @limit ${skipLocked(tx)}`;
    const sql = `UPDATE file_batches SET lease_owner = @ownerId, lease_until_ms = @untilMs
      WHERE id ${inRows(tx, unleased)} RETURNING ${BATCH}`;
    return fileBatchTable.rows<FileBatch>(tx, sql, { ...by, nowMs, limit });
  }),

  /** Stores the progress and renews the lease. Undefined, and nothing is stored, when another coordinator has it. */
  save: write((tx, lease: FileBatchLease, progress: FileBatchProgress) => {
    const sql = `UPDATE file_batches SET progress = @progress, lease_until_ms = @untilMs WHERE ${LEASED}
      RETURNING ${fileBatchTable.columns("cancellingAtMs")}`;
    return fileBatchTable.row<Pick<FileBatch, "cancellingAtMs">>(tx, sql, { ...lease, progress });
  }),

  /** Stores its end and gives the lease up. False, and nothing is stored, when another coordinator has it. */
  end: write(async (tx, lease: Omit<FileBatchLease, "untilMs">, progress: FileBatchProgress, atMs: number) => {
    const sql = `UPDATE file_batches SET progress = @progress, ended_at_ms = @atMs, lease_owner = NULL WHERE ${LEASED}`;
    return (await fileBatchTable.run(tx, sql, { ...lease, progress, atMs })) === 1;
  }),

  /** Gives up the leases of a coordinator that stops. */
  release: write(async (tx, ownerId: string): Promise<void> => {
    const sql = `UPDATE file_batches SET lease_owner = NULL, lease_until_ms = 0
      WHERE lease_owner = @ownerId AND ended_at_ms IS NULL`;
    await tx.run(sql, { ownerId });
  }),

  removeOfAccount: write(async (tx, accountId: string): Promise<void> => {
    await tx.run("DELETE FROM file_batches WHERE account_id = @accountId", { accountId });
  }),
};
