import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { openForWriting } from "./connection.ts";
import { DatabaseError } from "../../database-error.ts";

/**
 * Rewrites the whole database: the file has no unused space afterwards, nothing of what was deleted, and from then on gives space back
 * while it is in use. Takes as long as copying the file, and needs the same space again. Nothing else may use the database.
 * @throws {DatabaseError} without enough space, or while another process uses the file; nothing is lost then.
 */
export function vacuumDatabase(file: string): { readonly beforeBytes: number; readonly afterBytes: number } {
  const beforeBytes = statSync(file).size;
  using stack = new DisposableStack();
  try {
    const db = stack.adopt(openForWriting(file), (opened) => opened.close());
    db.exec("VACUUM");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    const advice = "make room for a second copy of the file, stop all programs that use it, and try again";
    throw new DatabaseError(file, `could not be rewritten (${cause.message}); ${advice}`, { cause });
  }
  return { beforeBytes, afterBytes: statSync(file).size };
}
