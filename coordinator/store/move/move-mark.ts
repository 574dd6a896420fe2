import type { Database } from "better-sqlite3";
import type pg from "pg";
import { DatabaseError } from "../database-error.ts";

/**
 * Mark of a data migration, in table `data_move` of both databases; the source keeps it afterwards. Coordinators refuse
 * to open a marked database: if two networks continued with the same data, each job would run and be paid twice.
 */
export interface MoveMark {
  /** The same in source and target. */
  readonly id: string;
  readonly role: "source" | "target";
  /** Name of the other endpoint. */
  readonly other: string;
  readonly isDone: boolean;
}

/** Refuses a marked database. `name`: its file or address. @throws {DatabaseError} if there is a mark. */
export function refuseMoved(name: string, mark: MoveMark | null): void {
  if (mark === null) return;
  const { role, other, isDone } = mark;
  if (role === "target") {
    const reason = `contains only part of the data of ${other}. Complete the move with the command migrate`;
    throw new DatabaseError(name, reason);
  }
  const reason = isDone
    ? `the data was moved to ${other}. Use that database`
    : `a move of the data to ${other} is not complete. Complete it with the command migrate`;
  throw new DatabaseError(name, `${reason}. To use this data again instead, run: migrate --from … --abandon`);
}

export function readSqliteMark(db: Database): MoveMark | null {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'data_move'").get();
  if (table === undefined) return null;
  const sql = "SELECT id, role, other, is_done AS isDone FROM data_move";
  const row = db.prepare<[], Omit<MoveMark, "isDone"> & { isDone: 0 | 1 }>(sql).get();
  return row === undefined ? null : { ...row, isDone: row.isDone === 1 };
}

export async function readPostgresMark(client: Pick<pg.ClientBase, "query">): Promise<MoveMark | null> {
  const found = await client.query<{ found: boolean }>("SELECT to_regclass('data_move') IS NOT NULL AS found");
  if (found.rows[0]?.found !== true) return null;
  const sql = `SELECT id, role, other, is_done AS "isDone" FROM data_move`;
  return (await client.query<MoveMark>(sql)).rows[0] ?? null;
}
