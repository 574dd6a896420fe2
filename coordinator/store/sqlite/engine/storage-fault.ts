import Database from "better-sqlite3";
import { ServiceError } from "../../../../shared/errors.ts";

/** Reasons by result code, without the part after a second underscore. Source: https://sqlite.org/rescode.html */
const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: "the disk is full",
  SQLITE_BUSY: "another process is writing to the database",
  SQLITE_LOCKED: "another connection has locked the database",
  SQLITE_IOERR: "the disk cannot be read or written",
  SQLITE_READONLY: "the database is read-only",
  SQLITE_CANTOPEN: "a file of the database cannot be opened",
  SQLITE_PROTOCOL: "another process is writing to the database",
};

/**
 * Returns the reason why the database is not writable; null for an error of the statement itself. After such a fault
 * the transaction has written nothing and can be retried.
 */
export function findStorageFault(error: unknown): string | null {
  if (!(error instanceof Database.SqliteError)) return null;
  const code = error.code.split("_").slice(0, 2).join("_");
  const reason = REASONS[code];
  return reason === undefined ? null : `${reason} (${error.code})`;
}

/** Codes of temporary faults, of SQLite and of file calls. Missing permissions are not temporary. */
const TEMPORARY = /^(SQLITE_FULL|SQLITE_BUSY.*|SQLITE_IOERR.*|ENOSPC|EDQUOT|EIO)$/;

/** Returns the temporary fault in an error or its causes; null if waiting does not help. */
export function storageFaultBehind(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ServiceError && cause.code === "storage_unavailable") return cause.message;
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && TEMPORARY.test(code)) return findStorageFault(cause) ?? cause.message;
  }
  return null;
}
