import type Database from "better-sqlite3";
import type { MoveMark } from "../../move/move-mark.ts";

export function readMark(db: Database.Database): MoveMark | null {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'data_move'").get();
  if (table === undefined) return null;
  const sql = "SELECT id, role, other, is_done AS isDone FROM data_move";
  const row = db.prepare<[], Omit<MoveMark, "isDone"> & { isDone: 0 | 1 }>(sql).get();
  return row === undefined ? null : { ...row, isDone: row.isDone === 1 };
}
