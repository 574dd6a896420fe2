import type { Tx } from "./steps/tx.ts";

/** Rows that one statement takes over. */
const AT_ONCE = 1_000;

/**
 * Takes over the open rows of coordinators that are gone. Of several that try, one gets each. A SQLite file has one coordinator, so that a
 * step that only reads there may begin with it: in PostgreSQL each of its statements commits by itself.
 * @param owner the column that names the coordinator of a row.
 */
export async function adoptRows(tx: Tx, table: string, owner: string, isOpen: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  // Those that left, or were found dead (`ClusterStore.reap`). They are named, as a condition on another table is not looked at again for
  // a row that another coordinator has just changed.
  const gone = await tx.all<{ id: string }>(
    `SELECT DISTINCT ${owner} AS id FROM ${table} WHERE ${isOpen} AND ${owner} <> @selfId
     AND NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.id = ${owner})`,
  );
  const goneIds = gone.map(({ id }) => id);
  const sql = `UPDATE ${table} SET ${owner} = @selfId WHERE id = ANY (ARRAY(
    SELECT id FROM ${table} WHERE ${isOpen} AND ${owner} = ANY (@goneIds)
    ORDER BY id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))`;
  for (let count = gone.length === 0 ? 0 : AT_ONCE; count === AT_ONCE;) {
    // oxlint-disable-next-line no-await-in-loop -- Each says whether another is needed.
    count = await tx.run(sql, { goneIds });
  }
}

/** Now, in ms since the epoch, by the clock of the database. */
const NOW_MS = "extract(epoch FROM clock_timestamp()) * 1000";
/** Of a period: coordinators whose timers are a little apart take turns all the same. */
const SLACK = 0.9;

/** Whether this coordinator does the task now. Of all coordinators, one does it in each period. */
export async function claimRound(tx: Tx, task: "prune" | "sweep", everyMs: number): Promise<boolean> {
  const taken = await tx.run(
    `INSERT INTO turns (task, taken_at_ms) VALUES (@task, (${NOW_MS})::bigint)
     ON CONFLICT (task) DO UPDATE SET taken_at_ms = excluded.taken_at_ms WHERE turns.taken_at_ms <= excluded.taken_at_ms - @periodMs`,
    { task, periodMs: Math.round(everyMs * SLACK) },
  );
  return taken === 1;
}
