import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { checksumOf, type Migration } from "../../../../coordinator/store/steps/migrations.ts";
import { migrate } from "../../../../coordinator/store/postgres/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/postgres/migrations.ts";
import type { PostgresServer } from "../../../support/servers/postgres-server.ts";
import { withPostgres } from "../../../support/servers/with-servers.ts";

/** Checksums of the migrations, in order. */
const CHECKSUMS = [
  "d2f4ea2c5fb683fb46ad61457f4aed9310a8317d063a95368379dac70cc07e04",
  "bdc2432f6823786e01ecfc171210f4cbba3f4026d374b0b1cf377949f93249fb",
  "a0f5c687f3d3db94566f2e0919391057a23306e52ce8f63351939a2ead8e8caa",
  "6b9e77d29694c72656ebe620868da7038ccd802f5886f73c9baad2d962ca5557",
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];
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

  describe("migrate()", () => {
    it("sets no statement timeout, and waits at most two seconds for a table", async () => {
      const sql = `CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock`;
      await migrate(address, [{ version: 1, name: "limits", sql }], 1);
      expect(await query("SELECT * FROM limits")).toEqual([{ statement: "0", lock: "2s" }]);
    });

    it("runs a migration outside of a transaction if it must, while concurrent starts wait", async () => {
      const index: Migration = { version: 2, name: "index", sql: INDEX, isOutsideTransaction: true };
      await migrate(address, [FIRST], 1);
      await Promise.all([1, 2, 3].map(() => migrate(address, [FIRST, index], 2)));
      expect(await query("SELECT indexname AS name FROM pg_indexes WHERE tablename = 'things'")).toEqual([
        { name: "by_id" },
      ]);
      expect(await query("SELECT version FROM migrations ORDER BY version")).toEqual([{ version: 1 }, { version: 2 }]);
    });

    it("rolls back a failed migration, and applies it again later", async () => {
      const broken: Migration = { version: 1, name: "first", sql: "CREATE TABLE other (id int); SELECT 1 / 0" };
      await expect(migrate(address, [broken], 1)).rejects.toThrow(/division by zero/);
      await migrate(address, [FIRST], 1);
      expect(await query("SELECT to_regclass('other') AS other, count(*)::int FROM migrations")).toEqual([
        { other: null, count: 1 },
      ]);
    });
  });

  describe("the baseline", () => {
    const FIXTURE = readFileSync(
      join(import.meta.dirname, "..", "..", "..", "fixtures", "schemas", "postgres-11.sql"),
      "utf8",
    );
    /** Columns, constraints, indexes and triggers of all tables. */
    const factsOf = async (): Promise<unknown> => {
      const columns = await query(
        `SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name, is_identity, identity_generation
         FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2`,
      );
      const constraints = await query(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1",
      );
      const indexes = await query("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1");
      const triggers = await query("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1");
      const functions = await query(
        "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
      );
      return { columns, constraints, indexes, triggers, functions };
    };

    it("upgrades the last database before the baseline, with all its data, to the same schema", async () => {
      await query(FIXTURE);
      await query(
        "INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ('user_1', 'a', 'a', 'h', 5)",
      );
      await migrate(address, MIGRATIONS, 2);
      expect(await query("SELECT id FROM accounts")).toEqual([{ id: "user_1" }]);
      expect(await query("SELECT name FROM migrations ORDER BY version")).toEqual(
        MIGRATIONS.map(({ name }) => ({ name })),
      );
      const taken = await factsOf();
      address = await server.createDatabase(`fresh_${databases}`);
      await migrate(address, MIGRATIONS, 2);
      expect(taken).toEqual(await factsOf());
    });

    it("refuses a database of an earlier version with instructions", async () => {
      await query(FIXTURE);
      await query("DELETE FROM migrations WHERE version = 11");
      await expect(migrate(address, MIGRATIONS, 2)).rejects.toThrow(
        /has migration 10 of an earlier version.*Start commit \w+ of Atoll once/,
      );
      expect(await query("SELECT count(*)::int FROM uploads")).toEqual([{ count: 0 }]);
    });

    it("keeps its text, whose checksum is stored in databases", () => {
      expect(MIGRATIONS.map(({ sql }) => checksumOf(sql))).toEqual(CHECKSUMS);
    });
  });
}
