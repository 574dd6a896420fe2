import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { prepareFile } from "./connection.ts";
import { DatabaseError } from "../../database-error.ts";

const LOCK_FILE = "serve.lock";

export interface ServeLock {
  release(): void;
}

/**
 * Prevents a second coordinator from serving `dataDirectory`: both would run every unfinished job. Commands that may run next to a
 * coordinator do not take the lock. It is an SQLite lock on an empty file, so the operating system releases it however the process dies.
 * @throws {DatabaseError} if another coordinator has it.
 */
export function lockForServing(dataDirectory: string): ServeLock {
  const path = prepareFile(join(dataDirectory, LOCK_FILE));
  const lock = new Database(path, { timeout: 0 });
  try {
    // A journal on disk would need space there. OFF is not possible: the connection is in SQLite's defensive mode.
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const isHeld = cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY";
    const reason = isHeld
      ? "another coordinator uses this data directory. Stop it first, or use another directory"
      : String(cause);
    // A lock of another coordinator is not a storage fault to wait for at the start, so it is not set as the cause.
    throw new DatabaseError(isHeld ? dirname(path) : path, reason, isHeld ? {} : { cause });
  }
  return { release: () => void lock.close() };
}
