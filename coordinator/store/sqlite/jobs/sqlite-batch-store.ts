import type Database from "better-sqlite3";
import type { BatchRecord, BatchStore, ActiveBatchRecord, NewBatch, SubmitBatchOutcome } from "../../batch-store.ts";
import { batchIdOf } from "../../idempotency.ts";
import type { Writer } from "../engine/writer.ts";
import type { SecretBox } from "../../secret-box.ts";

type BatchRow = Omit<BatchRecord, "jobs">;
interface LiveRow extends Pick<ActiveBatchRecord, "id" | "failMode"> {
  readonly isCancelled: 0 | 1;
  readonly hasFailed: 0 | 1;
}

export class SqliteBatchStore implements BatchStore {
  readonly #writer: Writer;
  readonly #secrets: Pick<SecretBox, "sealIn">;
  readonly #select: Database.Statement<[string], BatchRow>;
  readonly #selectJobs: Database.Statement<[string], BatchRecord["jobs"][number]>;
  readonly #selectUnfinished: Database.Statement<[], LiveRow>;

  constructor(db: Database.Database, writer: Writer, secrets: Pick<SecretBox, "sealIn">) {
    this.#writer = writer;
    this.#secrets = secrets;
    this.#select = db.prepare(
      `SELECT id, account_id AS accountId, slug, workload_id AS workloadId, priority, fail_mode AS failMode,
         created_at_ms AS createdAtMs, cancelled_at_ms AS cancelledAtMs, completed_at_ms AS completedAtMs,
         webhook_id AS webhookId
       FROM batches WHERE id = ?`,
    );
    this.#selectJobs = db.prepare("SELECT id, state FROM jobs WHERE batch_id = ? ORDER BY id");
    this.#selectUnfinished = db.prepare(
      `SELECT id, fail_mode AS failMode, cancelled_at_ms IS NOT NULL AS isCancelled,
         EXISTS (SELECT 1 FROM jobs WHERE batch_id = batches.id AND state IN ('failed', 'timeout')) AS hasFailed
       FROM batches WHERE completed_at_ms IS NULL`,
    );
  }

  async submit(batch: NewBatch): Promise<SubmitBatchOutcome> {
    const jobs = batch.jobs.map(({ inputJson, ...job }) => ({ ...job, input: inputJson }));
    const firstId = await this.#writer.run("submitBatch", {
      ...batch,
      jobs,
      webhook: this.#secrets.sealIn(batch.webhook),
    });
    const stored = await this.get(firstId ?? batch.id);
    if (stored === undefined) throw new Error(`The batch ${firstId ?? batch.id} is missing from the database`);
    return { created: firstId === null, batch: stored, placed: 0 };
  }

  async findRepeat(request: Parameters<BatchStore["findRepeat"]>[0]): Promise<BatchRecord | undefined> {
    const { accountId, createdAtMs, idempotency } = request;
    if (idempotency === null) return undefined;
    const made = await this.#writer.run("findRepeat", { accountId, createdAtMs, idempotency });
    return made === null ? undefined : this.get(batchIdOf(made));
  }

  async get(batchId: string): Promise<BatchRecord | undefined> {
    const row = this.#select.get(batchId);
    return row === undefined ? undefined : { ...row, jobs: this.#selectJobs.all(batchId) };
  }

  async unfinished(): Promise<ActiveBatchRecord[]> {
    return this.#selectUnfinished
      .all()
      .map((row) => ({ ...row, isCancelled: row.isCancelled === 1, hasFailed: row.hasFailed === 1 }));
  }

  async cancel(batchId: string, atMs: number): Promise<void> {
    await this.#writer.run("cancelBatch", { batchId, atMs });
  }
}
