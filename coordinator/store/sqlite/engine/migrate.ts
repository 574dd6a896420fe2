import type Database from "better-sqlite3";
import {
  assertKnown,
  checksumOf,
  isBeforeBaseline,
  TO_BASELINE,
  type AppliedMigration,
  type Migration,
} from "../../steps/migrations.ts";

/**
 * Applies the missing migrations, each in its own transaction. Processes that start at the same time take turns.
 * @throws {MigrationError} if the database is newer than the program, or the text of an applied migration has changed.
 */
export function migrate(db: Database.Database, migrations: readonly Migration[], nowMs: number): void {
  db.exec(`CREATE TABLE IF NOT EXISTS migrations (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at_ms INTEGER NOT NULL
  ) STRICT`);
  const applyNext = db.transaction((): boolean => {
    const applied = db
      .prepare<[], AppliedMigration>("SELECT version, name, checksum FROM migrations ORDER BY version")
      .all();
    const isBefore = isBeforeBaseline(applied, migrations, "sqlite");
    if (!isBefore) assertKnown(applied, migrations);
    const next = migrations[isBefore ? 0 : applied.length];
    if (next === undefined) return false;
    db.exec(isBefore ? TO_BASELINE : next.sql);
    db.prepare("INSERT INTO migrations (version, name, checksum, applied_at_ms) VALUES (?, ?, ?, ?)").run(
      next.version,
      next.name,
      checksumOf(next.sql),
      nowMs,
    );
    return true;
  });
  // A migration may replace a table to which others refer. SQLite would delete their rows with the old table, or refuse.
  db.pragma("foreign_keys = OFF");
  try {
    while (applyNext.immediate());
  } finally {
    db.pragma("foreign_keys = ON");
  }
}
