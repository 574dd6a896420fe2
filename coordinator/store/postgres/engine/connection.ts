import { createHash } from "node:crypto";
import pg from "pg";
import { DATABASE_NOW_MS } from "../../steps/tx.ts";

const INT8 = 20;
/** Type id of sums and counts of bigints. */
const NUMERIC = 1700;

const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;
/** Added to the client's time limit, so that the server stops a statement first and releases its locks. */
const MARGIN_MS = 2_000;
const LOCK_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * Makes every statement use an index. Functions and prepared statements keep the plans of their first runs, when tables
 * may be small and not analyzed. It is a statement because poolers do not support the startup `options`.
 */
export const PLANS = "SET enable_seqscan = off; SET jit = off";

type Values = readonly unknown[];

/** A connection on which statements run, in or outside of a transaction. */
export interface Session {
  all<T>(sql: string, values?: Values): Promise<T[]>;
  one<T>(sql: string, values?: Values): Promise<T | undefined>;
  /** Returns the number of affected rows. */
  run(sql: string, values?: Values): Promise<number>;
}

/** Parsers that return amounts and times as exact doubles. Balances may be larger and are selected as text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === INT8 || oid === NUMERIC ? (Number as never) : pg.types.getTypeParser(oid, format),
};

/** Returns the settings of a connection. `address`: `postgres://user:password@host:port/database?sslmode=…`. */
export function clientConfig(address: string, name: string): pg.ClientConfig {
  return {
    connectionString: address,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS + MARGIN_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    types,
  };
}

/** Connects, runs `call` and disconnects. If the connection is lost, the current or next statement rejects. */
export async function withClient<T>(
  address: string,
  name: string,
  call: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(clientConfig(address, name));
  // An error event without a listener would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await call(client);
  } finally {
    // Disconnecting also ends an open transaction and releases locks.
    await client.end().catch(() => undefined);
  }
}

/** Returns a session that prepares each statement once, under a name derived from its text. */
export function sessionOn(client: Pick<pg.ClientBase, "query">): Session {
  const query = <T>(text: string, values: Values = []): Promise<pg.QueryResult<T & pg.QueryResultRow>> =>
    client.query<T & pg.QueryResultRow>({ name: nameOf(text), text, values: [...values] });
  return {
    all: async <T>(sql: string, values?: Values) => (await query<T>(sql, values)).rows as T[],
    one: async <T>(sql: string, values?: Values) => (await query<T>(sql, values)).rows[0] as T | undefined,
    run: async (sql, values) => (await query(sql, values)).rowCount ?? 0,
  };
}

const names = new Map<string, string>();

function nameOf(sql: string): string {
  const name = names.get(sql) ?? `s${createHash("sha256").update(sql).digest("base64url").slice(0, 20)}`;
  names.set(sql, name);
  return name;
}

/** Returns the number of live coordinators plus the number of other connections of coordinators and commands. */
export async function countUsers(client: Pick<pg.ClientBase, "query">): Promise<number> {
  const { rows } = await client.query<{ users: string }>(
    `SELECT ((SELECT count(*) FROM coordinators WHERE lease_until_ms > ${DATABASE_NOW_MS})
       + (SELECT count(*) FROM pg_stat_activity
          WHERE datname = current_database() AND application_name LIKE 'atoll%' AND pid <> pg_backend_pid()))::text AS users`,
  );
  return Number(rows[0]?.users ?? 0);
}
