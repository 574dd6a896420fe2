import type { ActiveBatchRecord, BatchRecord, BatchStore, NewBatch, SubmitBatchOutcome } from "../../batch-store.ts";
import { batchIdOf } from "../../idempotency.ts";
import type { SecretBox } from "../../secret-box.ts";
import type { BatchWriter } from "../engine/batch-writer.ts";
import type { Database } from "../engine/database.ts";

export class PostgresBatchStore implements BatchStore {
  readonly #db: Database;
  readonly #writer: BatchWriter;
  readonly #secrets: Pick<SecretBox, "sealIn">;

  constructor(db: Database, writer: BatchWriter, secrets: Pick<SecretBox, "sealIn">) {
    this.#db = db;
    this.#writer = writer;
    this.#secrets = secrets;
  }

  submit(batch: NewBatch): Promise<SubmitBatchOutcome> {
    const jobs = batch.jobs.map(({ inputJson, ...job }) => ({ ...job, input: inputJson }));
    return this.#db.track(async () => {
      const args = { ...batch, jobs, webhook: this.#secrets.sealIn(batch.webhook) };
      const made = await this.#writer.run(batch.accountId, "submitBatch", args);
      if (typeof made === "number") return { created: true, batch: newBatchRecord(batch), placed: made };
      const first = await this.#get(batchIdOf(made));
      if (first === undefined)
        throw new Error(`The batch of an Idempotency-Key is not in the database: ${batchIdOf(made)}`);
      return { created: false, batch: first, placed: 0 };
    });
  }

  async findRepeat(request: Parameters<BatchStore["findRepeat"]>[0]): Promise<BatchRecord | undefined> {
    const { accountId, createdAtMs, idempotency } = request;
    if (idempotency === null) return undefined;
    return this.#db.track(async () => {
      const made = await this.#writer.run(accountId, "findRepeat", { accountId, createdAtMs, idempotency });
      return made === null ? undefined : this.#get(batchIdOf(made));
    });
  }

  get(batchId: string): Promise<BatchRecord | undefined> {
    return this.#db.track(() => this.#get(batchId));
  }

  #get(batchId: string): Promise<BatchRecord | undefined> {
    return this.#db.whileOpen(async (session) => {
      const row = await session.one<Omit<BatchRecord, "jobs">>(
        `SELECT id, account_id AS "accountId", slug, workload_id AS "workloadId", priority, fail_mode AS "failMode",
           created_at_ms AS "createdAtMs", cancelled_at_ms AS "cancelledAtMs", completed_at_ms AS "completedAtMs",
           webhook_id AS "webhookId"
         FROM batches WHERE id = $1`,
        [batchId],
      );
      if (row === undefined) return undefined;
      const jobs = await session.all<BatchRecord["jobs"][number]>(
        "SELECT id, state FROM jobs WHERE batch_id = $1 ORDER BY id",
        [batchId],
      );
      return { ...row, jobs };
    });
  }

  unfinished(ids?: readonly string[]): Promise<ActiveBatchRecord[]> {
    return this.#db.untilDone((session) =>
      session.all<ActiveBatchRecord>(
        `SELECT id, fail_mode AS "failMode", cancelled_at_ms IS NOT NULL AS "isCancelled",
           EXISTS (SELECT 1 FROM jobs WHERE batch_id = batches.id AND state IN ('failed', 'timeout')) AS "hasFailed"
         FROM batches WHERE completed_at_ms IS NULL ${ids === undefined ? "" : "AND id = ANY ($1)"}`,
        ids === undefined ? [] : [ids],
      ),
    );
  }

  cancel(batchId: string, atMs: number): Promise<void> {
    return this.#db.untilDone(async (session) => {
      await session.run("UPDATE batches SET cancelled_at_ms = $1 WHERE id = $2 AND completed_at_ms IS NULL", [
        atMs,
        batchId,
      ]);
    });
  }
}

/** A batch right after its submission: equal to what would be read. */
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
