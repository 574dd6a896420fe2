import type { RunHotWrite } from "./hot-writes.ts";
import { batchIdOf } from "./idempotency.ts";
import type { ActiveBatchRecord, BatchRecord, NewBatch, SubmitBatchOutcome } from "./job-store.ts";
import { batchTable } from "./job-tables.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { kept, read, write, type Opened } from "../steps/steps.ts";
import { oneOf } from "../steps/tx.ts";

export const batchSteps = {
  get: read(async (tx, batchId: string): Promise<BatchRecord | undefined> => {
    const sql = `SELECT ${batchTable.columnsBut("unfinished")} FROM batches WHERE id = @batchId`;
    const row = await batchTable.row<Omit<BatchRecord, "jobs">>(tx, sql, { batchId });
    if (row === undefined) return undefined;
    const jobs = "SELECT id, state FROM jobs WHERE batch_id = @batchId ORDER BY id";
    return { ...row, jobs: await tx.all<BatchRecord["jobs"][number]>(jobs, { batchId }) };
  }),

  /** Returns batches with at least one unfinished job. `ids`: restricts the read to these. */
  unfinished: kept(
    read(async (tx, ids?: readonly string[]): Promise<ActiveBatchRecord[]> => {
      const sql = `SELECT id, fail_mode AS "failMode", cancelled_at_ms IS NOT NULL AS "isCancelled",
          EXISTS (SELECT 1 FROM jobs WHERE batch_id = batches.id AND state IN ('failed', 'timeout')) AS "hasFailed"
        FROM batches WHERE completed_at_ms IS NULL ${ids === undefined ? "" : `AND ${oneOf(tx, "id", "ids")}`}`;
      type Flag = number | boolean;
      type Row = Omit<ActiveBatchRecord, "isCancelled" | "hasFailed"> & {
        readonly isCancelled: Flag;
        readonly hasFailed: Flag;
      };
      const rows = await tx.all<Row>(sql, { ids });
      return rows.map((row) => ({
        ...row,
        isCancelled: Boolean(row.isCancelled),
        hasFailed: Boolean(row.hasFailed),
      }));
    }),
  ),

  /** Records that the client cancelled the whole batch; its jobs are ended one by one. No-op for a finished batch. */
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

    /** Stores all jobs as `pending` with the postings, in one commit. @throws {ServiceError} like `JobStore.submit`. */
    async submit(batch: NewBatch): Promise<SubmitBatchOutcome> {
      const jobs = batch.jobs.map(({ inputJson, ...job }) => ({ ...job, input: inputJson }));
      const webhook = secrets.sealIn(batch.webhook);
      const made = await writeHot(batch.accountId, "submitBatch", { ...batch, jobs, webhook });
      if (typeof made === "number") return { created: true, batch: newBatchRecord(batch), admitted: made };
      const first = await steps.get(batchIdOf(made));
      if (first === undefined)
        throw new Error(`Batch ${batchIdOf(made)} of an Idempotency-Key is missing from the database`);
      return { created: false, batch: first, admitted: 0 };
    },

    /** Returns the batch of an earlier request, like `JobStore.findRepeat`. @throws {ServiceError} `idempotency_conflict`. */
    async findRepeat({
      accountId,
      createdAtMs,
      idempotency,
    }: Pick<NewBatch, "accountId" | "createdAtMs" | "idempotency">): Promise<BatchRecord | undefined> {
      if (idempotency === null) return undefined;
      const made = await writeHot(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
      return made === null ? undefined : steps.get(batchIdOf(made));
    },
  };
}

/** Returns a batch right after its submission, equal to what a read would return. */
function newBatchRecord(batch: NewBatch): BatchRecord {
  const { id, accountId, slug, workloadId, priority, failMode, createdAtMs, webhook, jobs } = batch;
  return {
    id,
    accountId,
    slug,
    workloadId,
    priority,
    failMode,
    createdAtMs,
    cancelledAtMs: null,
    completedAtMs: null,
    webhookId: webhook?.id ?? null,
    jobs: jobs.map((job) => ({ id: job.id, state: "pending" })),
  };
}
