import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../../coordinator/store/sqlite/engine/connection.ts";
import { migrate } from "../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../coordinator/store/sqlite/migrations.ts";
import { makeFastDirectory } from "../fast-directory.ts";

let made: Promise<Buffer> | undefined;

/**
 * Writes a migrated database, which takes a third of the time of opening a new one. The database is created once per
 * process.
 */
export async function writeEmptyDatabase(path: string): Promise<void> {
  writeFileSync(path, await (made ??= makeDatabase()), { mode: 0o600 });
}

async function makeDatabase(): Promise<Buffer> {
  const directory = await makeFastDirectory("atoll-empty-");
  const path = join(directory, "atoll.db");
  const db = openForWriting(path);
  migrate(db, MIGRATIONS, 0);
  db.close();
  const bytes = readFileSync(path);
  rmSync(directory, { recursive: true });
  return bytes;
}
