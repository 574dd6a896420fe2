import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { prepareFile } from "./connection.ts";
import { DatabaseError } from "../../database-error.ts";

const LOCK_FILE = "serve.lock";

/**
 * Prevents a second coordinator from serving `dataDirectory`: both would run every unfinished job. An SQLite lock on an
 * empty file, so the operating system releases it however the process dies.
 * @throws {DatabaseError} if another coordinator has it.
 */
export function lockForServing(dataDirectory: string): { release(): void } {
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
    // The start must not wait for another coordinator as for a storage fault, so that lock is not the cause.
    throw new DatabaseError(isHeld ? dirname(path) : path, reason, isHeld ? {} : { cause });
  }
  return { release: () => void lock.close() };
}
