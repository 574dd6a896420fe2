import type { Tx } from "./steps/tx.ts";

/** Rows per statement. */
const AT_ONCE = 1_000;

/**
 * Adopts the open rows of dead coordinators. Each row goes to one of several concurrent callers. No-op on SQLite, which has one coordinator;
 * therefore a read step may begin with it: in PostgreSQL each statement of a read commits separately.
 * @param owner column that names the coordinator of a row.
 */
export async function adoptRows(tx: Tx, table: string, owner: string, isOpen: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  // Owners that left or were reaped (`ClusterStore.reap`). Listed by id, because a condition on another table is not evaluated again for a
  // row that another coordinator has just changed.
  const gone = await tx.all<{ id: string }>(
    `SELECT DISTINCT ${owner} AS id FROM ${table} WHERE ${isOpen} AND ${owner} <> @selfId
     AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${owner})`,
  );
  const goneIds = gone.map(({ id }) => id);
  const sql = `UPDATE ${table} SET ${owner} = @selfId WHERE id = ANY (ARRAY(
    SELECT id FROM ${table} WHERE ${isOpen} AND ${owner} = ANY (@goneIds)
    ORDER BY id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))`;
  for (let count = gone.length === 0 ? 0 : AT_ONCE; count === AT_ONCE;) {
    // oxlint-disable-next-line no-await-in-loop -- Each count determines whether another is needed.
    count = await tx.run(sql, { goneIds });
  }
}

/** Current time of the database, in ms since the epoch. */
const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";
/** Fraction of the period that must have passed, so that coordinators with slightly different timers still alternate. */
const SLACK = 0.9;

/** Claims the task for this period. One of all coordinators gets it in each period. */
export async function claimRound(tx: Tx, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const taken = await tx.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES (@task, (${NOW_MS})::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - @periodMs`,
    { task, periodMs: Math.round(everyMs * SLACK) },
  );
  return taken === 1;
}
