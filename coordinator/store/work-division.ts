import { DATABASE_NOW_MS, selectIds, type Tx } from "./steps/tx.ts";

/** Rows per statement. */
const MAX_ROWS = 1_000;

/**
 * Adopts the open rows of dead coordinators. Each row goes to one of several concurrent callers. No-op in SQLite, so a
 * read step may call it: in PostgreSQL each statement of a read commits separately.
 * @param owner column that names the coordinator of a row.
 */
export async function adoptRows(tx: Tx, table: string, owner: string, isOpen: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  // Listed by id, because a condition on another table is not evaluated again for a row that another coordinator has just
  // changed.
  const gone = `SELECT DISTINCT ${owner} AS id FROM ${table} WHERE ${isOpen} AND ${owner} <> @selfId
     AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${owner})`;
  const goneIds = await selectIds(tx, gone, {});
  const sql = `UPDATE ${table} SET ${owner} = @selfId WHERE id = ANY (ARRAY(
    SELECT id FROM ${table} WHERE ${isOpen} AND ${owner} = ANY (@goneIds)
    ORDER BY id LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED))`;
  for (let count = goneIds.length === 0 ? 0 : MAX_ROWS; count === MAX_ROWS;) {
    // oxlint-disable-next-line no-await-in-loop -- Each count determines whether another is needed.
    count = await tx.run(sql, { goneIds });
  }
}

/** Fraction of the period that must have passed, so that coordinators with slightly different timers still alternate. */
const SLACK = 0.9;

/** Returns true for one of all coordinators in each period. */
export async function claimRound(tx: Tx, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const claimed = await tx.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES (@task, ${DATABASE_NOW_MS}::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - @periodMs`,
    { task, periodMs: Math.round(everyMs * SLACK) },
  );
  return claimed === 1;
}
