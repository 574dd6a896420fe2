import Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";

/** SQLite's result codes, without what follows a second underscore. Source: https://sqlite.org/rescode.html */
const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full",
  SQLITE_BUSY: "another process is writing to the database",
  SQLITE_LOCKED: "another connection has locked the database",
  SQLITE_IOERR: "the disk does not read or write",
  SQLITE_READONLY: "the database may not be written",
  SQLITE_CANTOPEN: "a file of the database cannot be opened",
  SQLITE_PROTOCOL: "another process is writing to the database",
};

/**
 * Why nothing can be written now; null for an error of the statement itself. Such a fault passes by itself, or when the operator
 * makes room, and nothing of the transaction was written: it can be tried again.
 */
export function storageFaultOf(error: unknown): string | null {
  if (!(error instanceof Database.SqliteError)) return null;
  const code = error.code.split("_").slice(0, 2).join("_");
  const reason = REASONS[code];
  return reason === undefined ? null : `${reason} (${error.code})`;
}

/**
 * Faults that pass, by SQLite's codes and by those of file calls: of a disk, and of another process that writes. Not of permissions:
 * the operator must put those right.
 */
const PASSING = /^(SQLITE_FULL|SQLITE_BUSY.*|SQLITE_IOERR.*|ENOSPC|EDQUOT|EIO)$/;

/** As `storageFaultOf`, of any error at the start and of its causes. Null if waiting does not help. */
export function storageFaultBehind(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ServiceError && cause.code === "storage_unavailable") return cause.message;
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && PASSING.test(code)) return storageFaultOf(cause) ?? cause.message;
  }
  return null;
}
