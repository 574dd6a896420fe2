import Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";

/** Reasons by SQLite result code, without the part after a second underscore. Source: https://sqlite.org/rescode.html */
const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full",
  SQLITE_BUSY: "another process is writing to the database",
  SQLITE_LOCKED: "another connection has locked the database",
  SQLITE_IOERR: "the disk does not read or write",
  SQLITE_READONLY: "the database is read-only",
  SQLITE_CANTOPEN: "a file of the database cannot be opened",
  SQLITE_PROTOCOL: "another process is writing to the database",
};

/**
 * Returns the reason why the database is not writable; null for an error of the statement itself. Nothing of the
 * transaction was written, so it can be retried.
 */
export function storageFaultOf(error: unknown): string | null {
  if (!(error instanceof Database.SqliteError)) return null;
  const code = error.code.split("_").slice(0, 2).join("_");
  const reason = REASONS[code];
  return reason === undefined ? null : `${reason} (${error.code})`;
}

/** Codes of temporary faults, from SQLite and from file calls. Excludes permissions, which the operator must fix. */
const TEMPORARY = /^(SQLITE_FULL|SQLITE_BUSY.*|SQLITE_IOERR.*|ENOSPC|EDQUOT|EIO)$/;

/** Searches an error at the start and its causes. Null if waiting does not help. */
export function storageFaultBehind(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ServiceError && cause.code === "storage_unavailable") return cause.message;
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && TEMPORARY.test(code)) return storageFaultOf(cause) ?? cause.message;
  }
  return null;
}
