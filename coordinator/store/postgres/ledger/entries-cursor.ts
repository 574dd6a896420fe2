import type { Session } from "../engine/connection.ts";

/**
 * Sums up entries of the ledger after those that a cursor has, at most `limit`, each once: numbers are drawn before a commit, and commits
 * come in another order, so a number counts once every transaction that could have drawn a lower one has ended. True if there may be more.
 * @param sumUp adds the entries after the first number up to the second.
 */
export async function moveCursor(
  session: Session,
  table: "earnings_cursor" | "usage_cursor",
  limit: number,
  sumUp: (from: number, upTo: number) => Promise<unknown>,
): Promise<boolean> {
  // Before this transaction has its number, which the lock gives it: who drew one of these numbers has an earlier one.
  const drawn = await session.one<{ last: number }>("SELECT last_value AS last FROM entries_id_seq");
  const cursor = await session.one<{ entry: number; next: number; isFinal: boolean }>(
    `SELECT entry, next_entry AS next, next_xid <= pg_snapshot_xmin(pg_current_snapshot()) AS "isFinal"
     FROM ${table} FOR UPDATE`,
  );
  if (drawn === undefined || cursor === undefined) throw new Error(`The table ${table} has no row`);
  const upTo = cursor.isFinal ? Math.min(cursor.next, cursor.entry + limit) : cursor.entry;
  if (upTo > cursor.entry) {
    await sumUp(cursor.entry, upTo);
    await session.run(`UPDATE ${table} SET entry = $1`, [upTo]);
  }
  if (upTo === cursor.next && drawn.last > cursor.next) {
    await session.run(`UPDATE ${table} SET next_entry = $1, next_xid = pg_current_xact_id()`, [drawn.last]);
  }
  return upTo > cursor.entry && upTo < cursor.next;
}
