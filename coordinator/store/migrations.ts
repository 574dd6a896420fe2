import { createHash } from "node:crypto";

export interface Migration {
  /** Counted from 1, without gaps. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * Programs that know this many migrations may still use the database afterwards, as in an upgrade of several coordinators one after the
   * other. Absent: only those that know this one.
   */
  readonly oldest?: number;
  /**
   * PostgreSQL only: its statements, with an empty line between two, run by themselves, as `CREATE INDEX CONCURRENTLY` must. An interrupted
   * one begins anew, so each may be repeated: `DROP INDEX CONCURRENTLY IF EXISTS` goes before the `CREATE`.
   */
  readonly isOutsideTransaction?: true;
}

/** A row of `migrations`. */
export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** {@link Migration.oldest}; a file has one coordinator, and none of it. */
  readonly oldest?: number;
}

/** The database was written by another version of this program. Nothing was changed. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** SHA-256 of a migration's text, in hex. */
export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}

/** @throws {MigrationError} if the database is newer than the program, or the text of an applied migration has changed. */
export function assertKnown(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  for (const [index, { version, name, checksum, oldest = version }] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined && oldest <= migrations.length) continue;
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
