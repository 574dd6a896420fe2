import { definedAs, integer, onlyIn, Table } from "../steps/table.ts";
import type { Tx } from "../steps/tx.ts";

/** Table with a single row: the ledger entries up to `entry` are aggregated. */
const cursorTable = (name: string) =>
  new Table(
    name,
    {
      entry: integer(),
      /** Upper end of the next range. It is final once no transaction older than `nextXid` is running. */
      nextEntry: onlyIn("postgres", integer()),
      nextXid: onlyIn("postgres", definedAs({ postgres: "xid8 NOT NULL" }, integer())),
    },
    { hasRowid: true },
  );
export const earningsCursorTable = cursorTable("earnings_cursor");
export const usageCursorTable = cursorTable("usage_cursor");

/** SQLite: id up to which `ledger_lines` is complete; a trigger adds 256 entries at a time. */
export const LAST_LINE = "(SELECT max(id) FROM entries) / 256 * 256";

/** Aggregates the entries with ids above `from` and up to `upTo`. */
type SumUp = (range: { readonly from: number; readonly upTo: number }) => Promise<unknown>;

/** Aggregates at most `limit` entries after the cursor, each exactly once. Resolves with true if there may be more. */
export function moveCursor(tx: Tx, cursor: Table, limit: number, sumUp: SumUp): Promise<boolean> {
  return (tx.dialect === "sqlite" ? moveInSqlite : moveInPostgres)(tx, cursor.name, limit, sumUp);
}

/**
 * Moves the cursor to the newest entry. SQLite serializes writes, so entries become visible in the order of their ids.
 */
async function moveInSqlite(tx: Tx, cursor: string, limit: number, sumUp: SumUp): Promise<boolean> {
  const read = `SELECT entry AS "from", (SELECT coalesce(max(id), 0) FROM entries) AS last FROM ${cursor}`;
  const { from, last } = await tx.only<{ from: number; last: number }>(read);
  const upTo = Math.min(last, from + limit);
  if (upTo <= from) return false;
  await sumUp({ from, upTo });
  await tx.run(`UPDATE ${cursor} SET entry = @upTo`, { upTo });
  return upTo < last;
}

/**
 * Moves the cursor only past entries that are final. PostgreSQL assigns an id before the commit, so an id counts once
 * every transaction that could have received a lower id has ended.
 */
async function moveInPostgres(tx: Tx, cursor: string, limit: number, sumUp: SumUp): Promise<boolean> {
  // This is read before the lock assigns an id to this transaction, because transactions with these entries have
  // earlier ids.
  const drawn = await tx.only<{ last: number }>("SELECT last_value AS last FROM entries_id_seq");
  const { from, next, isFinal } = await tx.only<{ from: number; next: number; isFinal: boolean }>(
    `SELECT entry AS "from", next_entry AS next, next_xid <= pg_snapshot_xmin(pg_current_snapshot()) AS "isFinal"
     FROM ${cursor} FOR UPDATE`,
  );
  const upTo = isFinal ? Math.min(next, from + limit) : from;
  if (upTo > from) {
    await sumUp({ from, upTo });
    await tx.run(`UPDATE ${cursor} SET entry = @upTo`, { upTo });
  }
  if (upTo === next && drawn.last > next) {
    await tx.run(`UPDATE ${cursor} SET next_entry = @last, next_xid = pg_current_xact_id()`, drawn);
  }
  return upTo > from && upTo < next;
}
