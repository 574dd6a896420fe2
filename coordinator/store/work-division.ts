import { DATABASE_NOW_MS, selectIds, type Tx } from "./steps/tx.ts";

/** Maximum number of rows that one statement adopts. */
const MAX_ROWS = 1_000;

/**
 * Adopts the open rows of dead coordinators; concurrent callers get different rows. No-op in SQLite, so a read step may
 * call it: in PostgreSQL each statement of a read step commits separately.
 */
export async function adoptRows(tx: Tx, table: string, owner: string, isOpen: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  // Rows are selected by id first, because PostgreSQL does not check a condition on another table again for a row that
  // just changed.
  const gone = `SELECT DISTINCT ${owner} AS id FROM ${table} WHERE ${isOpen} AND ${owner} <> @selfId
     AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${owner})`;
  const goneIds = await selectIds(tx, gone, {});
  const sql = `UPDATE ${table} SET ${owner} = @selfId WHERE id = ANY (ARRAY(
    SELECT id FROM ${table} WHERE ${isOpen} AND ${owner} = ANY (@goneIds)
    ORDER BY id LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED))`;
  for (let count = goneIds.length === 0 ? 0 : MAX_ROWS; count === MAX_ROWS;) {
    // oxlint-disable-next-line no-await-in-loop -- Each count determines whether more rows are left.
    count = await tx.run(sql, { goneIds });
  }
}

/** Fraction of the period after which a turn can be claimed, because timers of coordinators differ slightly. */
const EARLIEST_CLAIM_FRACTION = 0.9;

/** Claims the next turn of a task. Returns true at one coordinator per `everyMs`. */
export async function claimTurn(tx: Tx, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const claimed = await tx.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES (@task, ${DATABASE_NOW_MS}::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - @periodMs`,
    { task, periodMs: Math.round(everyMs * EARLIEST_CLAIM_FRACTION) },
  );
  return claimed === 1;
}
