import pg from "pg";
import { withoutPassword } from "../../../../shared/without-password.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { DatabaseError } from "../../database-error.ts";
import { MigrationError } from "../../steps/migrations.ts";

/**
 * A conflict with another transaction (serialization failure, deadlock, lock timeout), or a transaction that the server
 * ended because this process was idle in it. Source: PostgreSQL, appendix A.
 */
const TRANSIENT = new Set(["40001", "40P01", "55P03", "25P03"]);
/** Conflicts that the server reports at once and that can be retried at once. */
const CONFLICTS = new Set(["40001", "40P01"]);
/** Connection, resources, operator intervention, system. */
const STORAGE_CLASSES = new Set(["08", "53", "57", "58"]);
/** Read-only transaction: a standby that was not promoted. */
const READ_ONLY = "25006";
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

/** Error classes of authentication, permissions and missing databases, which the operator must fix. */
const REFUSED_CLASSES = new Set(["28", "3D", "0A"]);
const NOT_PERMITTED = "42501";
const DISK_FULL = "53100";

/** `pg` gives these errors only a message, without a code. */
const LOST =
  /^(timeout expired|Query read timeout|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error)/;

export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "");
}

/** The other transaction has ended since. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && CONFLICTS.has(error.code ?? "");
}

/** Error of `pg` if the address has no password and the server requires one. */
const NO_PASSWORD = /client password must be a string/;

/** Returns the reason why the server is not writable; null for an error of the statement itself. */
export function storageFaultOf(error: unknown): string | null {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    const isFault = STORAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || TRANSIENT.has(code);
    // The original message names a file.
    if (code === DISK_FULL) return `the database's disk is full (${code})`;
    return isFault ? `${error.message} (${code})` : null;
  }
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && NETWORK.test(code)) return `${error.message || "no connection"} (${code})`;
  return LOST.test(error.message) ? error.message : null;
}

/** For callers of the store. */
export function storageErrorOf(error: unknown): unknown {
  const reason = storageFaultOf(error);
  return reason === null
    ? error
    : new ServiceError("storage_unavailable", `Storage is unavailable: ${reason}`, { cause: error });
}

/** Returns the {@link DatabaseError} of an error that the operator must fix, or {@link storageErrorOf}. */
export function openingErrorOf(error: unknown, address: string): unknown {
  const known = storageErrorOf(error);
  if (known !== error || !(error instanceof Error)) return known;
  if (error instanceof MigrationError || error instanceof ServiceError) return known;
  const { code = "" } = error as NodeJS.ErrnoException;
  // Other errors of the server are bugs; errors without a server concern TLS or the password.
  const isOurs = error instanceof pg.DatabaseError && !REFUSED_CLASSES.has(code.slice(0, 2)) && code !== NOT_PERMITTED;
  if (isOurs) return error;
  const needsPassword = NO_PASSWORD.test(error.message);
  const reason = needsPassword ? "requires a password; set it in store or in the variable PGPASSWORD" : error.message;
  return new DatabaseError(withoutPassword(address), reason, { cause: error });
}
