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

/** The variables that a coordinator's process needs for its store. */
export const STORE_ENV: Readonly<Record<string, string>> = IS_POSTGRES ? { [KEY]: process.env[KEY] ?? "" } : {};

const databases = new Map<string, Promise<string>>();

/** Where the tests keep what would be in this data directory: there, or in a database made for it. */
export async function placeFor(directory: string): Promise<StoreLocation> {
  if (!IS_POSTGRES) return directory;
  let address = databases.get(directory);
  if (address === undefined) {
    address = createDatabase();
    databases.set(directory, address);
  }
  return { address: await address, key: Buffer.from(process.env[KEY] ?? "", "hex") };
}

/** The flags of commands for that place. */
export const placeFlags = (place: StoreLocation): string[] =>
  typeof place === "string" ? ["--data", place] : ["--store", place.address];

/** A store as `openSqliteStore` opens it, on the store that tests run on. The same path gives the same data. */
export async function openTestStore({ path, clock }: { path: string; clock: Clock }): Promise<TestStore> {
  const place = await placeFor(path);
  if (typeof place === "string") return openSqliteStore({ path, clock });
  const { address, key } = place;
  const store = postgresStore({
    address,
    clock,
    ownerId: newId("coord", clock.now()),
    secrets: new SecretBox(key),
  });
  // As after the start of a coordinator: what the last one left is this one's.
  await store.cluster.adopt(1_000);
  await store.prune();
  return store;
}

/** Runs SQL with `?` for values beside what may be running, and returns the rows. Blocks: it is for a few. */
export function runSql(place: StoreLocation, sql: string, ...values: readonly (string | number | null)[]): unknown[] {
  if (typeof place !== "string") return runPsql(place.address, sql, values);
  const db = new Database(join(place, DATABASE_FILE), { timeout: 5_000, fileMustExist: true });
  try {
    const statement = db.prepare(sql);
    return statement.reader ? statement.all(...values) : (statement.run(...values), []);
  } finally {
    db.close();
  }
}

/** Statements in one transaction. @returns the rows of the last one, if it gives any. */
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
