import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { DatabaseError } from "../../database-error.ts";
import { openForReading } from "./connection.ts";

/**
 * Writes the database of this moment into a new file, which only its owner may read. A coordinator may be running on it and goes on
 * writing. A copy that was interrupted has the ending `.part`.
 * @throws {DatabaseError} without enough space, or if the database is damaged.
 */
export function backUpDatabase(file: string, target: string): { readonly bytes: number } {
  const part = `${target}.part`;
  rmSync(part, { force: true });
  using stack = new DisposableStack();
  try {
    const db = stack.adopt(openForReading(file), (opened) => opened.close());
    db.prepare("VACUUM INTO ?").run(part);
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    throw new DatabaseError(file, `cannot copy the database to ${target}: ${cause.message}`, { cause });
  }
  chmodSync(part, 0o600);
  const descriptor = openSync(part, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(part, target);
  return { bytes: statSync(target).size };
}
