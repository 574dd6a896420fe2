import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { prepareFile } from "./connection.ts";
import { DatabaseError } from "../../database-error.ts";

const LOCK_FILE = "serve.lock";

export interface ServeLock {
  release(): void;
}

/**
 * Keeps a second coordinator from serving `dataDirectory`: both would run every unfinished job. Commands that may run beside a
 * coordinator do not take the lock. It is an SQLite lock on an empty file, so the system frees it however the process dies.
 * @throws {DatabaseError} if another coordinator has it.
 */
export function lockForServing(dataDirectory: string): ServeLock {
  const path = prepareFile(join(dataDirectory, LOCK_FILE));
  const lock = new Database(path, { timeout: 0 });
  try {
    // A journal on the disk would need space there. Without any (OFF) is refused: the connection is in SQLite's defensive mode.
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const isHeld = cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY";
    const reason = isHeld
      ? "another coordinator uses this data directory. Stop it first, or use another directory"
      : String(cause);
    // A lock that another coordinator has is no fault that a start waits for, and so no cause.
    throw new DatabaseError(isHeld ? dirname(path) : path, reason, isHeld ? {} : { cause });
  }
  return { release: () => void lock.close() };
}
