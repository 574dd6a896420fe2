import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { checksumOf, MigrationError, type Migration } from "../../../../../coordinator/store/migrations.ts";
import { migrate } from "../../../../../coordinator/store/sqlite/engine/migrate.ts";
import { MIGRATIONS } from "../../../../../coordinator/store/sqlite/migrations/all.ts";
import { openSqliteStore } from "../../../../../coordinator/store/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../../contract/store-builders.ts";
import { ManualClock } from "../../../../support/manual-clock.ts";

const LATER: Migration = {
  version: MIGRATIONS.length + 1,
  name: "later",
  sql: "ALTER TABLE accounts ADD COLUMN note TEXT; CREATE INDEX accounts_by_note ON accounts (note);",
};

function schemaOf(db: Database.Database): unknown[] {
  return db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").all();
}

function opened(migrations: readonly Migration[]): Database.Database {
  const db = new Database(":memory:");
  migrate(db, migrations, 1);
  return db;
}

describe("migrate()", () => {
  it("brings a database of any earlier version to the schema of a fresh one", () => {
    const all = [...MIGRATIONS, LATER];
    const fresh = schemaOf(opened(all));
    for (let known = 0; known <= all.length; known++) {
      const db = opened(all.slice(0, known));
      migrate(db, all, 2);
      expect(schemaOf(db)).toEqual(fresh);
    }
  });

  it("numbers are 1 and up without gaps", () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
  });

  it("gives the slugs of an older database the date of their Cargo, or that of the migration", () => {
    const db = opened(MIGRATIONS.slice(0, 23));
    db.exec(`INSERT INTO cargo_numbers (number, slug) VALUES (1, 'shipped'), (2, 'stored');
      INSERT INTO cargos (slug, file, enabled, approved, revision, created_at_ms, updated_at_ms)
        VALUES ('stored', '{}', 1, 1, 1, 5000, 6000)`);
    const startedMs = Date.now();
    migrate(db, MIGRATIONS, 2);
    const dates = db.prepare<[], number>("SELECT created_at_ms FROM cargo_numbers ORDER BY number").pluck().all();
    expect(dates).toEqual([expect.any(Number), 5_000]);
    expect(dates[0]).toBeGreaterThan(startedMs - 1_000);
  });

  it("refuses a database that is newer than the program", () => {
    const db = opened([...MIGRATIONS, LATER]);
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(MigrationError);
    expect(() => migrate(db, MIGRATIONS, 2)).toThrow(/newer than this program/);
  });

  it("refuses a migration whose text was changed, and changes nothing", () => {
    const db = opened([...MIGRATIONS, LATER]);
    const before = schemaOf(db);
    const edited = [...MIGRATIONS, { ...LATER, sql: `${LATER.sql} -- edited` }, { ...LATER, version: 99 }];
    expect(() => migrate(db, edited, 2)).toThrow(/differs from the one that was applied/);
    expect(schemaOf(db)).toEqual(before);
  });

  it("leaves nothing of a migration that fails half-way", () => {
    const db = opened(MIGRATIONS);
    const before = schemaOf(db);
    const broken = { ...LATER, sql: "CREATE TABLE half (a); SELECT * FROM missing;" };
    expect(() => migrate(db, [...MIGRATIONS, broken], 2)).toThrow(/missing/);
    expect(schemaOf(db)).toEqual(before);
  });

  it("openSqliteStore() refuses with the reason", async () => {
    using folder = temporaryFolder();
    const db = new Database(folder.file("atoll.db"));
    migrate(db, [...MIGRATIONS, LATER], 1);
    db.close();
    const open = openSqliteStore({ path: folder.file("atoll.db"), clock: new ManualClock() });
    await expect(open).rejects.toBeInstanceOf(MigrationError);
  });

  it("checksumOf() is SHA-256 of the text", () => {
    expect(checksumOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});
