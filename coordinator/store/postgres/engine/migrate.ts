import type pg from "pg";
import { ServiceError } from "../../../../shared/errors.ts";
import {
  assertKnown,
  checksumOf,
  isBeforeBaseline,
  TO_BASELINE,
  type AppliedMigration,
  type Migration,
} from "../../steps/migrations.ts";
import { withClient } from "./connection.ts";
import { toOpeningError } from "./storage-fault.ts";

/** Key of the advisory lock that prevents concurrent migrations by several coordinators; the number is arbitrary. */
const LOCK = 7_265_013;
/** Maximum wait for a table lock. Waiting blocks all other access to the table, so the start fails and retries. */
const TABLE_LOCK_MS = 2_000;
const POLL_MS = 200;
const MAX_POLLS = 50;
/** Longest possible query timeout of the client: a migration of a large table may take hours. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Applies the missing migrations, one coordinator at a time.
 * @throws {MigrationError} if the database is newer than the program, or the text of an applied migration has changed.
 * @throws {ServiceError} `storage_unavailable` while another coordinator migrates.
 */
export async function migrate(address: string, migrations: readonly Migration[], nowMs: number): Promise<void> {
  await withClient(address, "atoll migrate", async (client) => {
    await lock(client);
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at_ms bigint NOT NULL,
      oldest int NOT NULL)`);
    const { rows } = await client.query<AppliedMigration>(
      "SELECT version, name, checksum, oldest FROM migrations ORDER BY version",
    );
    const isBefore = isBeforeBaseline(rows, migrations, "postgres");
    if (!isBefore) assertKnown(rows, migrations);
    const [first] = migrations;
    if (isBefore && first !== undefined) await apply(client, first, nowMs, TO_BASELINE);
    for (const migration of migrations.slice(isBefore ? 1 : rows.length)) await apply(client, migration, nowMs);
  });
}

/** Takes the lock by polling: `CREATE INDEX CONCURRENTLY` would wait for a statement that blocks on the lock. */
async function lock(client: pg.Client): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [LOCK]);
    if (rows[0]?.taken === true) return;
    await client.query("SELECT pg_sleep($1)", [POLL_MS / 1_000]);
  }
  throw new ServiceError("storage_unavailable", "Another coordinator is migrating the database");
}

/** Applies a migration and records its checksum. `text`: statements to run instead of its own. */
async function apply(client: pg.Client, migration: Migration, nowMs: number, text = migration.sql): Promise<void> {
  const { version, name, sql, oldest = version, isOutsideTransaction = false } = migration;
  const run = async (statements: string): Promise<void> => {
    const query: pg.QueryConfig & { readonly query_timeout: number } = { text: statements, query_timeout: NO_LIMIT_MS };
    await client.query(query);
  };
  // Statements outside of a transaction may wait for locks: their wait does not block other access.
  await client.query(`SET statement_timeout = 0; SET lock_timeout = ${isOutsideTransaction ? 0 : TABLE_LOCK_MS}`);
  if (isOutsideTransaction) for (const statement of text.split(/\n\s*\n/)) await run(statement);
  await client.query("BEGIN");
  if (!isOutsideTransaction) await run(text);
  await client.query(
    "INSERT INTO migrations (version, name, checksum, applied_at_ms, oldest) VALUES ($1, $2, $3, $4, $5)",
    [version, name, checksumOf(sql), nowMs, oldest],
  );
  await client.query("COMMIT");
}

/** Returns whether the database has tables of this program. @throws as {@link toOpeningError} */
export async function isMigrated(address: string): Promise<boolean> {
  try {
    return await withClient(address, "atoll", async (client) => {
      const sql = "SELECT to_regclass('migrations') IS NOT NULL AS found";
      return (await client.query<{ found: boolean }>(sql)).rows[0]?.found === true;
    });
  } catch (error) {
    throw toOpeningError(error, address);
  }
}
