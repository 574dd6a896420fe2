import pg from "pg";
import { withoutPassword } from "../../../../shared/without-password.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { DatabaseError } from "../../database-error.ts";
import { MigrationError } from "../../steps/migrations.ts";

/**
 * Lost against another transaction: serialization failure, deadlock, a lock that was not to be had in time; or ended by the server,
 * because this process stood still in it. Source: PostgreSQL, appendix A.
 */
const TRANSIENT = new Set(["40001", "40P01", "55P03", "25P03"]);
/** Of these, what comes at once and is over. */
const CONFLICTS = new Set(["40001", "40P01"]);
/** Classes of faults of the server or of the way to it: connection, resources, operator intervention, system. */
const STORAGE_CLASSES = new Set(["08", "53", "57", "58"]);
/** Read-only transaction: a standby that was not promoted. */
const READ_ONLY = "25006";
const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** Who we are, what we may do, and which database there is: classes of errors that the operator must put right. */
const REFUSED_CLASSES = new Set(["28", "3D", "0A"]);
const NOT_PERMITTED = "42501";
const DISK_FULL = "53100";

/** `pg` names these only by their texts. */
const LOST =
  /^(timeout expired|Query read timeout|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error)/;

export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "");
}

/** Lost against another transaction, which has ended by now. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && CONFLICTS.has(error.code ?? "");
}

/** What `pg` says of an address without a password to a server that asks for one. */
const NO_PASSWORD = /client password must be a string/;

/** Why nothing can be stored now; null for an error of the statement itself. */
export function storageFaultOf(error: unknown): string | null {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    const isFault = STORAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || TRANSIENT.has(code);
    // Its message names a file.
    if (code === DISK_FULL) return `the database's disk is full (${code})`;
    return isFault ? `${error.message} (${code})` : null;
  }
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && NETWORK.has(code)) return `${error.message || "no connection"} (${code})`;
  return LOST.test(error.message) ? error.message : null;
}

/** The error for the caller of the store. */
export function storageErrorOf(error: unknown): unknown {
  const reason = storageFaultOf(error);
  return reason === null
    ? error
    : new ServiceError("storage_unavailable", `Nothing can be stored now: ${reason}`, { cause: error });
}

export function openingErrorOf(error: unknown, address: string): unknown {
  const known = storageErrorOf(error);
  if (known !== error || !(error instanceof Error)) return known;
  if (error instanceof MigrationError || error instanceof ServiceError) return known;
  const { code = "" } = error as NodeJS.ErrnoException;
  // Other errors of the server are ours; those without a server are of TLS or of the password.
  const isOurs = error instanceof pg.DatabaseError && !REFUSED_CLASSES.has(code.slice(0, 2)) && code !== NOT_PERMITTED;
  if (isOurs) return error;
  const needsPassword = NO_PASSWORD.test(error.message);
  const reason = needsPassword
    ? "asks for a password: put it into store or into the variable PGPASSWORD"
    : error.message;
  return new DatabaseError(withoutPassword(address), reason, { cause: error });
}
