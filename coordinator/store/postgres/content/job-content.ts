import { MIN_ROW_BYTES, REMOVED_MESSAGE, type ContentPart } from "../../content-store.ts";
import type { Session } from "../engine/connection.ts";

const ROWS_AT_ONCE = 256;

/** Rows of an unbounded number, as statements that delete some of them and return their sizes. */
const ROW_LISTS: readonly string[] = [
  `DELETE FROM feed_chunks WHERE ord = ANY (ARRAY(SELECT ord FROM feed_chunks WHERE job_id = $1 LIMIT $2))
   RETURNING length(items) + length(text) AS bytes`,
  `DELETE FROM large_pieces WHERE job_id = $1 AND (name, piece) IN (SELECT name, piece FROM large_pieces WHERE job_id = $1 LIMIT $2)
   RETURNING length(text) AS bytes`,
];

/**
 * Removes parts of one ended job. This is the only place that knows every table with content of a job. False when the budget was spent
 * before everything was removed: call it again. An unfinished or unknown job is left alone.
 */
export async function removeJobContent(
  session: Session,
  removal: {
    readonly jobId: string;
    readonly parts: readonly ContentPart[];
    readonly atMs: number;
    readonly budget: { bytes: number };
  },
): Promise<boolean> {
  const { jobId, parts, atMs, budget } = removal;
  const spend = (rows: readonly { readonly bytes: number }[]): void => {
    for (const { bytes } of rows) budget.bytes -= Math.max(bytes, MIN_ROW_BYTES);
  };
  const drop = async (sql: string, ...values: unknown[]): Promise<number> => {
    const rows = await session.all<{ bytes: number }>(sql, [jobId, ...values]);
    spend(rows);
    return rows.length;
  };
  if (parts.includes("input")) {
    const marked = await session.run(
      `UPDATE jobs SET input_removed_at_ms = coalesce(input_removed_at_ms, $1) WHERE id = $2 AND completed_at_ms IS NOT NULL`,
      [atMs, jobId],
    );
    if (marked === 0) return true;
    await drop("DELETE FROM job_inputs WHERE job_id = $1 RETURNING length(input) AS bytes");
  }
  if (!parts.includes("output")) return true;
  const job = await session.one<{ error: string | null }>(
    `UPDATE jobs SET output_removed_at_ms = coalesce(output_removed_at_ms, $1) WHERE id = $2 AND completed_at_ms IS NOT NULL
     RETURNING error`,
    [atMs, jobId],
  );
  if (job === undefined) return true;
  // An error's message may quote the prompt or the answer.
  if (job.error !== null) {
    const error = { ...(JSON.parse(job.error) as object), message: REMOVED_MESSAGE };
    await session.run("UPDATE jobs SET error = $1 WHERE id = $2", [JSON.stringify(error), jobId]);
  }
  await drop("DELETE FROM job_outputs WHERE job_id = $1 RETURNING length(output) AS bytes");
  await drop("DELETE FROM job_feeds WHERE job_id = $1 RETURNING length(layout) + coalesce(length(text), 0) AS bytes");
  for (const sql of ROW_LISTS) {
    // oxlint-disable-next-line no-await-in-loop -- Until the budget is spent.
    while (budget.bytes > 0 && (await drop(sql, rowsFor(budget.bytes))) > 0);
    if (budget.bytes <= 0) return (await session.one(leftSql(sql), [jobId])) === undefined;
  }
  return true;
}

/** Each row may have as much as a piece of a large value. */
const rowsFor = (bytes: number): number => Math.max(1, Math.min(ROWS_AT_ONCE, Math.floor(bytes / 65_536)));

const leftSql = (sql: string): string =>
  sql.includes("large_pieces")
    ? "SELECT 1 FROM large_pieces WHERE job_id = $1 LIMIT 1"
    : "SELECT 1 WHERE EXISTS (SELECT 1 FROM feed_chunks WHERE job_id = $1) OR EXISTS (SELECT 1 FROM large_pieces WHERE job_id = $1)";
