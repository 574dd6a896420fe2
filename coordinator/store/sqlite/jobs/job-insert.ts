import type Database from "better-sqlite3";
import type { NewJob } from "../../job-store.ts";

/** A job as it crosses to the writer. `input`: JSON text. */
export type JobToInsert = Omit<NewJob, "input" | "idempotency" | "webhook" | "answer"> & { readonly input: string };

/** Inserts a pending job and its input; credits are its caller's. */
export function prepareInsertJob(
  db: Database.Database,
): (job: JobToInsert, links: { readonly batchId: string | null; readonly webhookId: string | null }) => void {
  const insertJob = db.prepare(
    `INSERT INTO jobs (id, account_id, slug, workload_id, state, priority, price_micro, created_at_ms, wait_deadline_ms,
       batch_id, webhook_id)
     VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)`,
  );
  const insertInput = db.prepare<[string, string]>("INSERT INTO job_inputs (job_id, input) VALUES (?, ?)");
  return (job, { batchId, webhookId }) => {
    const { id, accountId, slug, workloadId, priority, priceMicro, createdAtMs, waitDeadlineMs } = job;
    insertJob.run(
      id,
      accountId,
      slug,
      workloadId,
      priority,
      priceMicro,
      createdAtMs,
      waitDeadlineMs,
      batchId,
      webhookId,
    );
    insertInput.run(id, job.input);
  };
}
