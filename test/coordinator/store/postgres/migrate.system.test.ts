import pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import type { Migration } from "../../../../coordinator/store/migrations.ts";
import { migrate } from "../../../../coordinator/store/postgres/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/postgres/migrations/all.ts";
import type { PostgresServer } from "../../../support/postgres-server.ts";
import { withPostgres } from "../../../support/with-servers.ts";

const FIRST: Migration = { version: 1, name: "first", sql: "CREATE TABLE things (id int)" };
const INDEX = `DROP INDEX CONCURRENTLY IF EXISTS by_id

CREATE INDEX CONCURRENTLY by_id ON things (id)`;

await withPostgres(describeMigrations);

function describeMigrations(server: PostgresServer): void {
  let address: string;
  let databases = 0;
  beforeEach(async () => {
    address = await server.createDatabase(`migrated_${(databases += 1)}`);
  });
  async function query<T>(sql: string): Promise<T[]> {
    const client = new pg.Client(address);
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows as T[];
  }

  describe("a migration", () => {
    it("has no limit of time, and waits for a table two seconds at most", async () => {
      const sql = `CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`;
      await migrate(address, [{ version: 1, name: "limits", sql }], 1);
      expect(await query("SELECT * FROM limits")).toEqual([{ statement: "0", lock: "2s" }]);
    });

    it("may run outside of a transaction, as indexes of large tables are made; several who start at once wait for it", async () => {
      const index: Migration = { version: 2, name: "index", sql: INDEX, isOutsideTransaction: true };
      await migrate(address, [FIRST], 1);
      await Promise.all([1, 2, 3].map(() => migrate(address, [FIRST, index], 2)));
      expect(await query("SELECT indexname AS name FROM pg_indexes WHERE tablename = 'things'")).toEqual([
        { name: "by_id" },
      ]);
      expect(await query("SELECT version FROM migrations ORDER BY version")).toEqual([{ version: 1 }, { version: 2 }]);
    });

    it("gives slugs a date: of their Cargo, of the migration, or of a coordinator of an earlier version", async () => {
      await migrate(address, MIGRATIONS.slice(0, 9), 1);
      await query(`INSERT INTO cargo_numbers (number, slug) VALUES (1, 'shipped'), (2, 'stored')`);
      await query(`INSERT INTO cargos (slug, file, enabled, approved, revision, created_at_ms, updated_at_ms)
        VALUES ('stored', '{}', true, true, 1, 5000, 6000)`);
      const startedMs = Date.now();
      await migrate(address, MIGRATIONS, 2);
      await query(`INSERT INTO cargo_numbers (number, slug) VALUES (3, 'later')`);
      const rows = await query<{ ms: number }>("SELECT created_at_ms::float AS ms FROM cargo_numbers ORDER BY number");
      const [shipped, stored, later] = rows.map(({ ms }) => ms);
      expect(stored).toBe(5_000);
      for (const ms of [shipped, later]) expect(ms).toBeGreaterThan(startedMs - 1_000);
    });

    it("that failed leaves nothing, and is tried again", async () => {
      const broken: Migration = { version: 1, name: "first", sql: "CREATE TABLE other (id int); SELECT 1 / 0" };
      await expect(migrate(address, [broken], 1)).rejects.toThrow(/division by zero/);
      await migrate(address, [FIRST], 1);
      expect(await query("SELECT to_regclass('other') AS other, count(*)::int FROM migrations")).toEqual([
        { other: null, count: 1 },
      ]);
    });
  });
}
