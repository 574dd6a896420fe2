import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { COPIED_TABLES, REVISIONS } from "../../../../coordinator/store/move/copied-tables.ts";
import { migrate } from "../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/sqlite/migrations/all.ts";
import { PostgresDatabase } from "../../../support/postgres-database.ts";

/** Columns that the other database has no counterpart of, and that a move sets itself. `*`: the whole table. */
const OWN_OF_SQLITE = ["checks.*", "jobs.is_unlisted", "ledger_lines.*", "migrations.*"];
const OWN_OF_POSTGRES = [
  "checks.*",
  "coordinators.*",
  "jobs.owner_id",
  "messages.keeper_id",
  "migrations.*",
  "network_moves.*",
  // Copied by their names, as each database seals them with another key.
  "secrets.*",
  "turns.*",
  "webhooks.sender_id",
];

/** "table.column" of each column that a move copies. */
const copied = [
  ...COPIED_TABLES.flatMap(({ name, columns }) => Object.keys(columns).map((column) => `${name}.${column}`)),
  ...REVISIONS.map((name) => `${name}.revision`),
];

/** A column that is new in a schema must be copied, or listed here. */
function expectCovered(columns: readonly string[], own: readonly string[]): void {
  const isOwn = (column: string) => own.includes(column) || own.includes(`${column.split(".")[0]}.*`);
  const ids = new Set(["catalog_revision.id"]);
  expect(columns.filter((column) => !isOwn(column) && !ids.has(column)).toSorted()).toEqual(copied.toSorted());
}

describe("the tables that a move copies", () => {
  it("are all of SQLite, with all columns", () => {
    const db = new Database(":memory:");
    migrate(db, MIGRATIONS, 1);
    const columns = db
      .prepare<[], string>(
        `SELECT tables.name || '.' || columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table'`,
      )
      .pluck()
      .all();
    db.close();
    expectCovered(columns, OWN_OF_SQLITE);
  });

  it("are all of PostgreSQL, with all columns", async (context) => {
    const database = await PostgresDatabase.open();
    if (database === null) return context.skip("PostgreSQL is not installed");
    try {
      const { rows } = await database.server.query(
        "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
        "test",
      );
      return expectCovered(
        rows.map(({ name }: { name: string }) => name),
        OWN_OF_POSTGRES,
      );
    } finally {
      await database[Symbol.asyncDispose]();
    }
  });
});
