import pg from "pg";
import { ServiceError } from "../../../../shared/errors.ts";

/** Lost against another transaction: serialization failure, deadlock, a lock that was not to be had in time. Source: PostgreSQL, appendix A. */
const TRANSIENT = new Set(["40001", "40P01", "55P03"]);
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
]);

/** `pg` names these only by their texts. */
const LOST =
  /^(timeout expired|Query read timeout|timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error)/;

export function isTransient(error: unknown): boolean {
  return error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "");
}

/** Why nothing can be stored now; null for an error of the statement itself. */
export function storageFaultOf(error: unknown): string | null {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    const isFault = STORAGE_CLASSES.has(code.slice(0, 2)) || code === READ_ONLY || TRANSIENT.has(code);
    return isFault ? `${error.message} (${code})` : null;
  }
  if (!(error instanceof Error)) return null;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && NETWORK.has(code)) return `${error.message} (${code})`;
  return LOST.test(error.message) ? error.message : null;
}

/** The error for the caller of the store. */
export function storageErrorOf(error: unknown): unknown {
  const reason = storageFaultOf(error);
  return reason === null
    ? error
    : new ServiceError("storage_unavailable", `Nothing can be stored now: ${reason}`, { cause: error });
}
