import Database from "better-sqlite3";
import { describe, it } from "vitest";
import { migrate } from "../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../coordinator/store/sqlite/migrations.ts";
import { expectCovered } from "./copied-columns.ts";

/** Columns without a counterpart in the other database, which a migration sets. `*` stands for the whole table. */
const OWN_OF_SQLITE = [
  "checks.*",
  // The target aggregates this again from the ledger.
  "earnings_cursor.*",
  "usage_cursor.*",
  // The target derives this from the numbers of keys.
  "key_numbers.*",
  "account_usage.*",
  "island_earnings.*",
  "jobs.is_unlisted",
  "ledger_lines.*",
  "migrations.*",
];
describe("COPIED_TABLES", () => {
  it("cover all tables of SQLite, with all columns", () => {
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
});
