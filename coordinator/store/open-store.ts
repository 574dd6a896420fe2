import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import { checkDatabase } from "./sqlite/engine/check-database.ts";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

/** File of the database in a data directory. */
export const DATABASE_FILE = "atoll.db";

/** What is damaged in the database of a data directory, a line for each fault; empty when it is whole. Changes nothing. */
export function checkData(dataDirectory: string): string[] {
  return checkDatabase(join(dataDirectory, DATABASE_FILE));
}

/** Opens the database of a data directory, and makes both if they are missing. */
export async function openStore(
  dataDirectory: string,
  clock: Clock,
  options: Pick<SqliteStoreOptions, "onReadOnly" | "minFreeBytes"> = {},
): Promise<Store> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  return openSqliteStore({ path: join(dataDirectory, DATABASE_FILE), clock, ...options });
}
