import type Database from "better-sqlite3";
import { refuseMoved, type MoveMark } from "../../move/move-mark.ts";

export function readMark(db: Database.Database): MoveMark | null {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'data_move'").get();
  if (table === undefined) return null;
  const row = db
    .prepare<[], Omit<MoveMark, "isDone"> & { isDone: 0 | 1 }>(
      "SELECT id, role, other, is_done AS isDone FROM data_move",
    )
    .get();
  return row === undefined ? null : { ...row, isDone: row.isDone === 1 };
}

/** @throws {DatabaseError} if the data of the file was or is being migrated. */
export function assertNotMoved(db: Database.Database, file: string): void {
  refuseMoved(file, readMark(db));
}
