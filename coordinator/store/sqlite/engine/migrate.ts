import { createHash } from "node:crypto";
import type Database from "better-sqlite3";

export interface Migration {
  /** Counted from 1, without gaps. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
}

/** The database was written by another version of this program. Nothing was changed. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** SHA-256 of a migration's text, in hex. */
export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}

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
    assertKnown(applied, migrations);
    const next = migrations[applied.length];
    if (next === undefined) return false;
    db.exec(next.sql);
    db.prepare("INSERT INTO migrations (version, name, checksum, applied_at_ms) VALUES (?, ?, ?, ?)").run(
      next.version,
      next.name,
      checksumOf(next.sql),
      nowMs,
    );
    return true;
  });
  while (applyNext.immediate());
}

function assertKnown(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  for (const [index, { version, name, checksum }] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined) {
      throw new MigrationError(
        `The database is newer than this program: it has migration ${version} (${name}), the program knows ${migrations.length}. Run the version that wrote the database, or a later one.`,
      );
    }
    if (known.version !== version || checksumOf(known.sql) !== checksum) {
      throw new MigrationError(
        `Migration ${version} (${name}) differs from the one that was applied to the database. Run the version that wrote the database; do not edit migrations.`,
      );
    }
  }
}
