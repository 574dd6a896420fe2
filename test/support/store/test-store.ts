import { spawnSync } from "node:child_process";
import { join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { newId } from "../../../shared/ids.ts";
import type { Clock } from "../../../shared/clock.ts";
import { DATABASE_FILE } from "../../../coordinator/store/open-store.ts";
import { postgresStore, type PostgresStore } from "../../../coordinator/store/postgres/postgres-store.ts";
import { SecretBox } from "../../../coordinator/store/secrets/secret-box.ts";
import type { StoreLocation } from "../../../coordinator/store/store-location.ts";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import { IS_POSTGRES, KEY, SERVER, TEMPLATE } from "../servers/test-store-server.ts";

export { IS_POSTGRES };
export type TestStore = SqliteStore | PostgresStore;

/** Environment variables of a coordinator process for its store. */
export const STORE_ENV: Readonly<Record<string, string>> = IS_POSTGRES ? { [KEY]: process.env[KEY] ?? "" } : {};

const databases = new Map<string, Promise<string>>();

/** Returns the location of data for this directory, which is the directory itself or a new database. */
export async function locationFor(directory: string): Promise<StoreLocation> {
  if (!IS_POSTGRES) return directory;
  let address = databases.get(directory);
  if (address === undefined) {
    address = createDatabase();
    databases.set(directory, address);
  }
  return { address: await address, key: Buffer.from(process.env[KEY] ?? "", "hex") };
}

/** Returns the flags of commands for that location. */
export const locationFlags = (location: StoreLocation): string[] =>
  typeof location === "string" ? ["--data", location] : ["--store", location.address];

/** Opens the store that tests run on, as `openSqliteStore` does. The same path has the same data. */
export async function openTestStore({ path, clock }: { path: string; clock: Clock }): Promise<TestStore> {
  const location = await locationFor(path);
  if (typeof location === "string") return openSqliteStore({ path, clock });
  const { address, key } = location;
  const store = postgresStore({
    address,
    clock,
    ownerId: newId("coord", clock.now()),
    secrets: new SecretBox(key),
  });
  // Acts like a coordinator that starts, and adopts what the last one left.
  await store.cluster.adopt(1_000);
  await store.prune();
  return store;
}

/**
 * Runs SQL with `?` for values, even while a coordinator runs, and returns the rows. The call is synchronous, so use it
 * only for a few rows.
 */
export function runSql(
  location: StoreLocation,
  sql: string,
  ...values: readonly (string | number | null)[]
): unknown[] {
  if (typeof location !== "string") return runPsql(location.address, sql, values);
  const db = new Database(join(location, DATABASE_FILE), { timeout: 5_000, fileMustExist: true });
  try {
    const statement = db.prepare(sql);
    return statement.reader ? statement.all(...values) : (statement.run(...values), []);
  } finally {
    db.close();
  }
}

/** Runs statements in one transaction. @returns the rows of the last one. */
function runPsql(address: string, sql: string, values: readonly (string | number | null)[]): unknown[] {
  let index = 0;
  const text = sql.replaceAll("?", () => literal(values[index++] ?? null));
  const isQuery = /^\s*SELECT\b/i.test(text);
  const input = isQuery ? `SELECT coalesce(json_agg(rows), '[]') FROM (${text}) AS rows` : text;
  const args = ["--no-psqlrc", "-qAt", "-1", "-v", "ON_ERROR_STOP=1", "-f", "-", address];
  const { status, stdout, stderr } = spawnSync("psql", args, { input, encoding: "utf8" });
  if (status !== 0) throw new Error(`psql ended with ${status}: ${stderr}`);
  return isQuery ? (JSON.parse(stdout) as unknown[]) : [];
}

function literal(value: string | number | null): string {
  return typeof value === "string" ? pg.escapeLiteral(value) : String(value).toUpperCase();
}

async function createDatabase(): Promise<string> {
  const server = process.env[SERVER];
  if (server === undefined)
    throw new Error(`${SERVER} is not set: vitest.config.ts names this file as its global setup`);
  const name = newId("coord", Date.now()).toLowerCase();
  const client = new pg.Client(`${server}postgres`);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  } finally {
    await client.end();
  }
  return `${server}${name}`;
}
