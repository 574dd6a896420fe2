import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { prepareFile } from "./connection.ts";
import { DatabaseError } from "./database-error.ts";

const LOCK_FILE = "serve.lock";

export interface ServeLock {
  release(): void;
}

/**
 * Keeps a second coordinator from serving `dataDirectory`: each would take up all unfinished jobs, and run them twice. The commands
 * that work beside a running coordinator do not take the lock. It is SQLite's own on a file of no content: the system frees it
 * with the process, however that dies.
 * @throws {DatabaseError} when another coordinator holds it.
 */
export function lockForServing(dataDirectory: string): ServeLock {
  const path = prepareFile(join(dataDirectory, LOCK_FILE));
  const lock = new Database(path, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const isHeld = cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY";
    const reason = isHeld ? "another coordinator serves this data directory" : String(cause);
    throw new DatabaseError(isHeld ? dirname(path) : path, reason, { cause });
  }
  return { release: () => void lock.close() };
}
