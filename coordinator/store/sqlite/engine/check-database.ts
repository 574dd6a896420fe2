import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { openForReading } from "./connection.ts";

/** Faults that are listed at most. */
const MAX_FAULTS = 100;

/** What is damaged in a database file, a line for each fault; empty when it is whole. A coordinator may be running on it. */
export function checkDatabase(file: string): string[] {
  if (!existsSync(file)) return [`${file} does not exist`];
  try {
    using stack = new DisposableStack();
    const db = stack.adopt(openForReading(file), (opened) => opened.close());
    const lines = db.prepare<[], string>(`PRAGMA integrity_check(${MAX_FAULTS})`).pluck().all();
    const orphans = db.prepare<[], { table: string; rowid: number; parent: string }>("PRAGMA foreign_key_check").all();
    return [
      ...lines.filter((line) => line !== "ok"),
      ...orphans
        .slice(0, MAX_FAULTS)
        .map(({ table, rowid, parent }) => `row ${rowid} of ${table} has no row in ${parent}`),
    ];
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return [`${error.message} (${error.code})`];
  }
}
