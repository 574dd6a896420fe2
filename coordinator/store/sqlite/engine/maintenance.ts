import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { DatabaseError } from "../../database-error.ts";
import { openForReading, openForWriting } from "./connection.ts";

/** Maximum number of faults of each kind that a check reports. */
const MAX_FAULTS = 100;

/** Checks the file while a coordinator may be running. Returns one line per fault; none if the file is intact. */
export function checkDatabase(file: string): string[] {
  if (!existsSync(file)) return [`${file} does not exist`];
  try {
    using stack = new DisposableStack();
    const db = stack.adopt(openForReading(file), (opened) => opened.close());
    const lines = db.prepare<[], string>(`PRAGMA integrity_check(${MAX_FAULTS})`).pluck().all();
    const orphans = db.prepare<[], { table: string; rowid: number; parent: string }>("PRAGMA foreign_key_check").all();
    const missing = orphans.map(
      ({ table, rowid, parent }) => `row ${rowid} of ${table} references a missing row of ${parent}`,
    );
    return [...lines.filter((line) => line !== "ok"), ...missing.slice(0, MAX_FAULTS)];
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return [`${error.message} (${error.code})`];
  }
}

/**
 * Copies a snapshot to a new file, readable by its owner only, while a coordinator may be writing. An interrupted copy
 * has the suffix `.part`. @throws {DatabaseError} if there is not enough space or the database is damaged.
 */
export function backUpDatabase(file: string, target: string): { readonly bytes: number } {
  const part = `${target}.part`;
  rmSync(part, { force: true });
  using stack = new DisposableStack();
  try {
    const db = stack.adopt(openForReading(file), (opened) => opened.close());
    db.prepare("VACUUM INTO ?").run(part);
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    throw new DatabaseError(file, `cannot copy the database to ${target}: ${cause.message}`, { cause });
  }
  chmodSync(part, 0o600);
  const descriptor = openSync(part, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(part, target);
  return { bytes: statSync(target).size };
}

/**
 * Rewrites the whole file without unused space and remains of deleted content, and enables reclaiming space while in
 * use. Takes as long as copying the file, and needs the same space again.
 * @throws {DatabaseError} if there is not enough space or another process uses the file; the data is then unchanged.
 */
export function vacuumDatabase(file: string): { readonly beforeBytes: number; readonly afterBytes: number } {
  const beforeBytes = statSync(file).size;
  using stack = new DisposableStack();
  try {
    const db = stack.adopt(openForWriting(file), (opened) => opened.close());
    db.exec("VACUUM");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    const advice = "free space for a second copy of the file, stop all programs that use it, and try again";
    throw new DatabaseError(file, `could not be rewritten (${cause.message}); ${advice}`, { cause });
  }
  return { beforeBytes, afterBytes: statSync(file).size };
}
