import type Database from "better-sqlite3";
import { MIN_ROW_BYTES, REMOVED_MESSAGE, type ContentPart } from "../../content-store.ts";

/** What a step may still remove, in bytes. */
export interface RemovalBudget {
  bytes: number;
}

const ROWS_AT_ONCE = 256;

/** A chunk of a feed, or a piece of a large value. */
interface StoredRow {
  readonly id: number;
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
  const feedBytes = db
    .prepare<[string], number>(
      "SELECT octet_length(layout) + coalesce(octet_length(text), 0) FROM job_feeds WHERE job_id = ?",
    )
    .pluck();
  const rowLists = ["feed_chunks", "large_pieces"].map((table) => {
    const content = table === "feed_chunks" ? "items || coalesce(text, '')" : "text";
    return {
      find: db.prepare<[string], StoredRow>(
        `SELECT rowid AS id, octet_length(${content}) AS bytes FROM ${table} WHERE job_id = ? LIMIT ${ROWS_AT_ONCE}`,
      ),
      remove: db.prepare<[number]>(`DELETE FROM ${table} WHERE rowid = ?`),
    };
  });
  const deleteInput = db.prepare<[string]>("DELETE FROM job_inputs WHERE job_id = ?");
  const deleteOutput = db.prepare<[string]>("DELETE FROM job_outputs WHERE job_id = ?");
  const deleteFeed = db.prepare<[string]>("DELETE FROM job_feeds WHERE job_id = ?");
  const spend = (budget: RemovalBudget, bytes: number): void => {
    budget.bytes -= Math.max(bytes, MIN_ROW_BYTES);
  };
  const removeRows = (jobId: string, budget: RemovalBudget): boolean => {
    for (const { find, remove } of rowLists) {
      for (let found = find.all(jobId); found.length > 0; found = find.all(jobId)) {
        for (const { id, bytes } of found) {
          if (budget.bytes <= 0) return false;
          remove.run(id);
          spend(budget, bytes);
        }
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
    spend(budget, feedBytes.get(jobId) ?? 0);
    deleteFeed.run(jobId);
    return removeRows(jobId, budget);
  };
}
