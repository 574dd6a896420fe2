import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { prepareFile } from "./connection.ts";
import { DatabaseError } from "../../database-error.ts";

const LOCK_FILE = "serve.lock";

/**
 * Locks `dataDirectory` against a second coordinator, which would run every unfinished job again. The lock is an SQLite
 * lock on an empty file, which the operating system releases however the process ends.
 * @throws {DatabaseError} if another coordinator has the lock.
 */
export function lockForServing(dataDirectory: string): { release(): void } {
  const path = prepareFile(join(dataDirectory, LOCK_FILE));
  const lock = new Database(path, { timeout: 0 });
  try {
    // A journal on disk would need disk space. SQLite's defensive mode of this connection forbids OFF.
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const isHeld = cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY";
    const reason = isHeld
      ? "another coordinator uses this data directory. Stop it first, or use another directory"
      : String(cause);
    // If the lock were the `cause`, the start would wait for the other coordinator as for a storage fault.
    throw new DatabaseError(isHeld ? dirname(path) : path, reason, isHeld ? {} : { cause });
  }
  return { release: () => void lock.close() };
}
