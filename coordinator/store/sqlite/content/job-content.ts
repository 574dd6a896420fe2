import type Database from "better-sqlite3";
import type { ContentPart } from "../../content-store.ts";

/** What a step may still remove, in bytes. */
export interface RemovalBudget {
  bytes: number;
}

/** Rows cost more than their content: each rewrites a page. */
const MIN_ROW_BYTES = 4_096;
const CHUNKS_AT_ONCE = 256;
const REMOVED_MESSAGE = "The message was removed with the job's output";

interface Chunk {
  readonly ord: number;
  readonly bytes: number;
}

/**
 * Removes parts of one ended job. This is the only place that knows every table with content of a job. Returns false when the budget
 * was spent before everything was removed: call it again. An unfinished or unknown job is left alone.
 */
export function prepareRemoveJobContent(
  db: Database.Database,
): (jobId: string, parts: readonly ContentPart[], atMs: number, budget: RemovalBudget) => boolean {
  const markInput = db.prepare<[number, string]>(
    `UPDATE jobs SET input_removed_at_ms = coalesce(input_removed_at_ms, ?) WHERE id = ? AND completed_at_ms IS NOT NULL`,
  );
  // An error's message may quote the prompt or the answer.
  const markOutput = db.prepare<[number, string]>(
    `UPDATE jobs SET output_removed_at_ms = coalesce(output_removed_at_ms, ?),
       error = CASE WHEN error IS NOT NULL THEN json_set(error, '$.message', '${REMOVED_MESSAGE.replaceAll("'", "''")}') END
     WHERE id = ? AND completed_at_ms IS NOT NULL`,
  );
  const inputBytes = db
    .prepare<[string], number>("SELECT octet_length(input) FROM job_inputs WHERE job_id = ?")
    .pluck();
  const outputBytes = db
    .prepare<[string], number>("SELECT octet_length(output) FROM job_outputs WHERE job_id = ?")
    .pluck();
  const chunks = db.prepare<[string], Chunk>(
    `SELECT ord, octet_length(items) AS bytes FROM feed_chunks WHERE job_id = ? LIMIT ${CHUNKS_AT_ONCE}`,
  );
  const deleteInput = db.prepare<[string]>("DELETE FROM job_inputs WHERE job_id = ?");
  const deleteOutput = db.prepare<[string]>("DELETE FROM job_outputs WHERE job_id = ?");
  const deleteChunk = db.prepare<[number]>("DELETE FROM feed_chunks WHERE ord = ?");
  const spend = (budget: RemovalBudget, bytes: number): void => {
    budget.bytes -= Math.max(bytes, MIN_ROW_BYTES);
  };
  const removeFeed = (jobId: string, budget: RemovalBudget): boolean => {
    for (let found = chunks.all(jobId); found.length > 0; found = chunks.all(jobId)) {
      for (const { ord, bytes } of found) {
        if (budget.bytes <= 0) return false;
        deleteChunk.run(ord);
        spend(budget, bytes);
      }
    }
    return true;
  };
  return (jobId, parts, atMs, budget) => {
    if (parts.includes("input")) {
      if (markInput.run(atMs, jobId).changes === 0) return true;
      spend(budget, inputBytes.get(jobId) ?? 0);
      deleteInput.run(jobId);
    }
    if (!parts.includes("output")) return true;
    if (markOutput.run(atMs, jobId).changes === 0) return true;
    spend(budget, outputBytes.get(jobId) ?? 0);
    deleteOutput.run(jobId);
    return removeFeed(jobId, budget);
  };
}
