import pg from "pg";
import { withoutPassword } from "../../../../shared/without-password.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { DatabaseError } from "../../database-error.ts";
import { MigrationError } from "../../steps/migrations.ts";

/**
 * Error codes of conflicts with another transaction (serialization failure, deadlock, lock timeout), and of a
 * transaction that the server ended because it was idle. Source: PostgreSQL, appendix A.
 */
const TRANSIENT = new Set(["40001", "40P01", "55P03", "25P03"]);
/** Error codes of conflicts that can be retried at once: the other transaction has ended. */
const CONFLICTS = new Set(["40001", "40P01"]);
/** Error classes of a storage fault: connection, resources, operator intervention, system. */
const STORAGE_CLASSES = new Set(["08", "53", "57", "58"]);
/** Error code of a read-only transaction, for example on a standby that was not promoted. */
const READ_ONLY = "25006";
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Error classes that the operator must fix: authentication, missing database, unsupported feature. */
const REFUSED_CLASSES = new Set(["28", "3D", "0A"]);
const NOT_PERMITTED = "42501";
const DISK_FULL = "53100";

/** Messages of `pg` for a lost connection; these errors have no code. */
const LOST =
  /^(timeout expired|Query read timeout|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error)/;

/** Returns whether the transaction failed for a reason that a later attempt does not have. */
export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "");
}

/** Returns whether the error is a conflict that can be retried at once. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && CONFLICTS.has(error.code ?? "");
}

/** Message of `pg` if the server requires a password and the address has none. */
const NO_PASSWORD = /client password must be a string/;

/** Returns the reason why the server is not writable; null for an error of the statement itself. */
export function findStorageFault(error: unknown): string | null {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    const isFault = STORAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || TRANSIENT.has(code);
    // The message of the server names one of its files.
    if (code === DISK_FULL) return `the database's disk is full (${code})`;
    return isFault ? `${error.message} (${code})` : null;
  }
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && NETWORK.test(code)) return `${error.message || "no connection"} (${code})`;
  return LOST.test(error.message) ? error.message : null;
}

/** Converts a storage fault to the error that callers of the store get. Returns other errors unchanged. */
export function toStorageError(error: unknown): unknown {
  const reason = findStorageFault(error);
  return reason === null
    ? error
    : new ServiceError("storage_unavailable", `Storage is unavailable: ${reason}`, { cause: error });
}

/**
 * Converts an error that the operator must fix to a {@link DatabaseError}, and all other errors like {@link
 * toStorageError}.
 */
export function toOpeningError(error: unknown, address: string): unknown {
  const known = toStorageError(error);
  if (known !== error || !(error instanceof Error)) return known;
  if (error instanceof MigrationError || error instanceof ServiceError) return known;
  const { code = "" } = error as NodeJS.ErrnoException;
  // Other errors of the server are bugs of this program; errors without a server concern TLS or the password.
  const isOurs = error instanceof pg.DatabaseError && !REFUSED_CLASSES.has(code.slice(0, 2)) && code !== NOT_PERMITTED;
  if (isOurs) return error;
  const needsPassword = NO_PASSWORD.test(error.message);
  const reason = needsPassword ? "requires a password; set it in store or in the variable PGPASSWORD" : error.message;
  return new DatabaseError(withoutPassword(address), reason, { cause: error });
}
