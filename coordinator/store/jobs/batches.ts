import { findRepeat, type RunHotWrite } from "./hot-writes.ts";
import { requireBatchId, type KeyedRequest } from "./idempotency.ts";
import type { ActiveBatchRecord, BatchRecord, NewBatch } from "./job-store.ts";
import { batchTable, SUBMITTED_BATCH_COLUMNS } from "./job-tables.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { kept, read, write, type Opened } from "../steps/steps.ts";
import { pick } from "../steps/table.ts";
import { oneOf } from "../steps/tx.ts";

export const batchSteps = {
  get: read(async (tx, batchId: string): Promise<BatchRecord | undefined> => {
    const sql = `SELECT ${batchTable.columnsBut("unfinished")} FROM batches WHERE id = @batchId`;
    const row = await batchTable.row<Omit<BatchRecord, "jobs">>(tx, sql, { batchId });
    if (row === undefined) return undefined;
    const jobs = "SELECT id, state FROM jobs WHERE batch_id = @batchId ORDER BY id";
    return { ...row, jobs: await tx.all<BatchRecord["jobs"][number]>(jobs, { batchId }) };
  }),

  /** Returns the unfinished batches; with `ids`, only those among them. */
  unfinished: kept(
    read(async (tx, ids?: readonly string[]): Promise<ActiveBatchRecord[]> => {
      const sql = `SELECT id, fail_mode AS "failMode", cancelled_at_ms IS NOT NULL AS "isCancelled",
          EXISTS (SELECT 1 FROM jobs WHERE batch_id = batches.id AND state IN ('failed', 'timeout')) AS "hasFailed"
        FROM batches WHERE completed_at_ms IS NULL ${ids === undefined ? "" : `AND ${oneOf(tx, "id", "ids")}`}`;
      // SQLite returns booleans as numbers.
      type Row = Pick<ActiveBatchRecord, "id" | "failMode"> & Record<"isCancelled" | "hasFailed", unknown>;
      const rows = await tx.all<Row>(sql, { ids });
      return rows.map((row) => ({
        ...row,
        isCancelled: Boolean(row.isCancelled),
        hasFailed: Boolean(row.hasFailed),
      }));
    }),
  ),

  /** Records that the client cancelled the batch; its jobs are ended one by one. No-op for a finished batch. */
  cancel: kept(
    write(async (tx, batchId: string, atMs: number): Promise<void> => {
      const sql = "UPDATE batches SET cancelled_at_ms = @atMs WHERE id = @batchId AND completed_at_ms IS NULL";
      await tx.run(sql, { batchId, atMs });
    }),
  ),
};

export type BatchStore = ReturnType<typeof openBatches>;

export function openBatches(
  steps: Opened<typeof batchSteps>,
  writeHot: RunHotWrite,
  secrets: Pick<SecretBox, "sealIn">,
) {
  return {
    ...steps,

    /**
     * Stores all jobs as `pending`, with the postings, in one commit. With `created: false` the Idempotency-Key was
     * already used with the same body, and `batch` is that first batch. `admitted`: number of jobs, from the first,
     * with a quota slot; 0 if the store does not count slots. @throws {ServiceError} like `JobStore.submit`.
     */
    async submit(batch: NewBatch): Promise<{ created: boolean; batch: BatchRecord; admitted: number }> {
      const jobs = batch.jobs.map(({ inputJson, ...job }) => ({ ...job, input: inputJson }));
      const webhook = secrets.sealIn(batch.webhook);
      const made = await writeHot(batch.accountId, "submitBatch", { ...batch, jobs, webhook });
      if (typeof made === "number") return { created: true, batch: newBatchRecord(batch), admitted: made };
      const id = requireBatchId(made);
      const first = await steps.get(id);
      if (first === undefined) throw new Error(`Batch ${id} of an Idempotency-Key is missing from the database`);
      return { created: false, batch: first, admitted: 0 };
    },

    /** Returns the batch that the first request with the Idempotency-Key created, like `JobStore.findRepeat`. */
    async findRepeat(request: KeyedRequest): Promise<BatchRecord | undefined> {
      const made = await findRepeat(writeHot, request);
      return made === null ? undefined : steps.get(requireBatchId(made));
    },
  };
}

/** Builds the record that a read would return right after the submission. */
function newBatchRecord({ webhook, jobs, ...batch }: NewBatch): BatchRecord {
  return {
    ...pick(batch, SUBMITTED_BATCH_COLUMNS),
    cancelledAtMs: null,
    completedAtMs: null,
    webhookId: webhook?.id ?? null,
    jobs: jobs.map((job) => ({ id: job.id, state: "pending" })),
  };
}
