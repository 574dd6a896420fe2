import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { checksumOf, MigrationError, type Migration } from "../../../../../coordinator/store/steps/migrations.ts";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations.ts";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../../contract/store-builders.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const FIXTURE = join(import.meta.dirname, "..", "..", "..", "..", "fixtures", "schemas", "sqlite-25.sql");
/** Checksums of the migrations, in order. */
const CHECKSUMS = [
  "d2b7d6b61acf30597de430bba1df20a925411f94d1788be03fb5d869334a85b9",
  "682695c007e92850b3db67b2e276bc1f4a767a063c062bf3dfd2527c506a59ba",
  "fd98390ae9cf1f4edaf77f838038ce95fc84887df93a128ca78c36b3ec70f002",
  "ebd1b83a097dabdf2fdc5f0edaec92e71c7a9c041e9780f3cf1cbf62e48893d4",
  "6d665ca78b4004b693da127f079ea121e4da973009a35eaf9f3bc3ad15e4d706",
];
const LATER: Migration = {
  version: MIGRATIONS.length + 1,
  name: "later",
  sql: "ALTER TABLE accounts ADD COLUMN note TEXT; CREATE INDEX accounts_by_note ON accounts (note);",
};

function schemaOf(db: Database.Database): unknown[] {
  return db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").all();
}

/** Creates a database like the last version before the baseline. */
function beforeBaseline(): Database.Database {
  const db = new Database(":memory:");
  db.exec(readFileSync(FIXTURE, "utf8"));
  return db;
}

/** Returns columns, keys and indexes of all tables, and all triggers. */
function factsOf(db: Database.Database): unknown {
  const tables = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .pluck()
    .all();
  const sql = db
    .prepare<[], string>(
      "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY name",
    )
    .pluck()
    .all();
  const columns = (table: string) =>
    db
      .prepare<[], string>(
        `SELECT format('%s %s %d %s %d', name, type, "notnull", dflt_value, pk > 0) FROM pragma_table_xinfo('${table}') ORDER BY name`,
      )
      .pluck()
      .all();
  const references = (table: string) =>
    db
      .prepare<[], string>(
        `SELECT format('%s %s %s', "from", "table", on_delete) FROM pragma_foreign_key_list('${table}') ORDER BY "from"`,
      )
      .pluck()
      .all();
  return {
    tables: Object.fromEntries(tables.map((table) => [table, [columns(table), references(table)]])),
    sql: sql.map((text) => text.replaceAll(/\s+/g, " ")),
  };
}

function opened(migrations: readonly Migration[]): Database.Database {
  const db = new Database(":memory:");
  migrate(db, migrations, 1);
  return db;
}

describe("migrate()", () => {
  it("upgrades a database of any earlier version to the schema of a new one", () => {
    const all = [...MIGRATIONS, LATER];
    const fresh = schemaOf(opened(all));
    for (let known = 0; known <= all.length; known++) {
      const db = opened(all.slice(0, known));
      migrate(db, all, 2);
      expect(schemaOf(db)).toEqual(fresh);
    }
  });

  it("numbers migrations from 1 without gaps", () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it("upgrades the last database before the baseline, with all its data, to the schema of a new one", () => {
    const db = beforeBaseline();
    db.exec(
      "INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ('user_1', 'a', 'a', 'h', 5)",
    );
    migrate(db, MIGRATIONS, 2);
    expect(db.prepare("SELECT id, created_at_ms AS atMs FROM accounts").all()).toEqual([{ id: "user_1", atMs: 5 }]);
    expect(db.prepare("SELECT name FROM migrations").pluck().all()).toEqual(MIGRATIONS.map(({ name }) => name));
    expect(factsOf(db)).toEqual(factsOf(opened(MIGRATIONS)));
  });

  it("moves jobs to a table with a rowid, and keeps the rows that refer to them", () => {
    const db = opened(MIGRATIONS.slice(0, 4));
    db.exec(`INSERT INTO accounts (id, email, email_key, password_hash, created_at_ms) VALUES ('user_1', 'a', 'a', 'h', 5);
      INSERT INTO jobs (id, account_id, slug, workload_id, state, priority, price_micro, created_at_ms, wait_deadline_ms)
        VALUES ('job_1', 'user_1', 's', 1, 'completed', 0, 7, 5, 9);
      INSERT INTO job_feeds (job_id, layout, text) VALUES ('job_1', '[]', 'Hello');`);
    const jobs = (): unknown => db.prepare("SELECT * FROM jobs").all();
    const before = jobs();
    migrate(db, MIGRATIONS, 2);
    expect(jobs()).toEqual(before);
    expect(db.prepare("SELECT rowid, text FROM jobs JOIN job_feeds ON job_id = id").all()).toEqual([
      { rowid: 1, text: "Hello" },
    ]);
    expect(() => db.exec("DELETE FROM accounts")).toThrow(/FOREIGN KEY/);
  });

  it("refuses a database of an earlier version with instructions, and changes nothing", () => {
    const db = beforeBaseline();
    db.exec("DELETE FROM migrations WHERE version = 25");
    const before = schemaOf(db);
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(
      /has migration 24 of an earlier version.*Start commit \w+ of Atoll once/,
    );
    expect(schemaOf(db)).toEqual(before);
  });

  it("refuses a database with a different baseline", () => {
    const db = opened(MIGRATIONS);
    db.exec("UPDATE migrations SET checksum = 'other'");
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(/Migration 1 \(baseline\) differs from the one that was applied/);
  });

  it("keeps the texts of migrations, whose checksums are stored in databases", () => {
    expect(MIGRATIONS.map(({ sql }) => checksumOf(sql))).toEqual(CHECKSUMS);
  });

  it("refuses a database that is newer than the program", () => {
    const db = opened([...MIGRATIONS, LATER]);
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(MigrationError);
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(/newer than this program/);
  });

  it("refuses a migration whose text has changed, and changes nothing", () => {
    const db = opened([...MIGRATIONS, LATER]);
    const before = schemaOf(db);
    const edited = [...MIGRATIONS, { ...LATER, sql: `${LATER.sql} -- edited` }, { ...LATER, version: 99 }];
    expect(() => migrate(db, edited, 2)).toThrow(/differs from the one that was applied/);
    expect(schemaOf(db)).toEqual(before);
  });

  it("rolls back a migration that fails half-way", () => {
    const db = opened(MIGRATIONS);
    const before = schemaOf(db);
    const broken = { ...LATER, sql: "CREATE TABLE half (a); SELECT * FROM missing;" };
    expect(() => migrate(db, [...MIGRATIONS, broken], 2)).toThrow(/missing/);
    expect(schemaOf(db)).toEqual(before);
  });

  it("makes openSqliteStore() reject with the reason", async () => {
    using folder = temporaryFolder();
    const db = new Database(folder.file("atoll.db"));
    migrate(db, [...MIGRATIONS, LATER], 1);
    db.close();
    const open = openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
    await expect(open).rejects.toBeInstanceOf(MigrationError);
  });

  it("uses SHA-256 of the text as checksum", () => {
    expect(checksumOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
