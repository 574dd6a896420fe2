import pg from "pg";
import { assertKnown, checksumOf, type AppliedMigration, type Migration } from "../../migrations.ts";
import { clientConfig } from "./connection.ts";
import { openingErrorOf } from "./storage-fault.ts";

/** Any number; all coordinators use the same. */
const LOCK = 7_265_013;

/**
 * Applies the missing migrations, each in its own transaction. Coordinators that start at the same time take turns.
 * @throws {MigrationError} if the database is newer than the program, or the text of an applied migration has changed.
 */
export async function migrate(address: string, migrations: readonly Migration[], nowMs: number): Promise<void> {
  const client = new pg.Client(clientConfig(address, "atoll migrate"));
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query(`CREATE TABLE IF NOT EXISTS migrations (
      version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at_ms bigint NOT NULL)`);
    const { rows } = await client.query<AppliedMigration>(
      "SELECT version, name, checksum FROM migrations ORDER BY version",
    );
    assertKnown(rows, migrations);
    for (const { version, name, sql } of migrations.slice(rows.length)) {
      await client.query("BEGIN");
      await client.query(sql);
      await client.query("INSERT INTO migrations (version, name, checksum, applied_at_ms) VALUES ($1, $2, $3, $4)", [
        version,
        name,
        checksumOf(sql),
        nowMs,
      ]);
      await client.query("COMMIT");
    }
  } finally {
    // Ends an open transaction and the lock too.
    await client.end();
  }
}

/** Whether there are tables of ours. @throws as {@link openingErrorOf} */
export async function isMigrated(address: string): Promise<boolean> {
  const client = new pg.Client(clientConfig(address, "atoll"));
  try {
    await client.connect();
    const { rows } = await client.query<{ found: boolean }>("SELECT to_regclass('migrations') IS NOT NULL AS found");
    return rows[0]?.found === true;
  } catch (error) {
    throw openingErrorOf(error, address);
  } finally {
    await client.end().catch(() => undefined);
  }
}
