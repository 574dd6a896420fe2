import { createHash } from "node:crypto";
import type { Dialect } from "./tx.ts";

/** A change of the schema. */
export interface Migration {
  /** Number of the migration, counted from 1 without gaps. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * Number of migrations of the oldest program that can use the database afterwards, for rolling upgrades. If absent,
   * only programs with this migration can.
   */
  readonly oldest?: number;
  /**
   * Whether the statements, separated by empty lines, run outside of a transaction, as `CREATE INDEX CONCURRENTLY`
   * requires. PostgreSQL only. An interrupted migration restarts, so each must be repeatable: `DROP INDEX CONCURRENTLY
   * IF EXISTS` precedes the `CREATE`.
   */
  readonly isOutsideTransaction?: true;
}

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** Oldest program for the database, as {@link Migration.oldest}; absent in SQLite, which has one coordinator. */
  readonly oldest?: number;
}

/** The schema was written by another version of this program, and cannot be used. Nothing was changed. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/** Number of migrations of the last version before the baseline, and the digest of their checksums. */
const BEFORE_BASELINE = {
  sqlite: { count: 25, digest: "53764dfa10f32bd936592ab27b53bffafa239c26c7f9c1c001710cbde2368fea" },
  postgres: { count: 11, digest: "fe9cc4329227a4cd630b42230b837b1a318fdee93fd4405ab50d923e21c68c11" },
} as const;
/** SQL that turns the schema of that version into the baseline: it drops the retired uploads in parts. */
export const TO_BASELINE = "DROP TABLE upload_parts; DROP TABLE uploads; DELETE FROM migrations;";

/** Returns whether the last version before the baseline wrote the schema. @throws {MigrationError} for earlier ones. */
export function isBeforeBaseline(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
  dialect: Dialect,
): boolean {
  if (applied.length === 0 || applied[0]?.name === migrations[0]?.name) return false;
  const { count, digest } = BEFORE_BASELINE[dialect];
  if (checksumOf(applied.map(({ checksum }) => checksum).join()) === digest) return true;
  throw new MigrationError(
    `The database has migration ${applied.length} of an earlier version, but this program can only upgrade from migration ${count}. Start commit d7ab646b of Atoll once, which applies the missing migrations, then start this version.`,
  );
}

export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}

/** Compares applied and known migrations. @throws {MigrationError} if the database is newer, or one has changed. */
export function assertKnown(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  for (const [index, { version, name, checksum, oldest = version }] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined && oldest <= migrations.length) continue;
    if (known === undefined) {
      throw new MigrationError(
        `The database is newer than this program: it has migration ${version} (${name}), but the program has only ${migrations.length}. Run the version that last used the database, or a later one.`,
      );
    }
    if (known.version !== version || checksumOf(known.sql) !== checksum) {
      throw new MigrationError(
        `Migration ${version} (${name}) differs from the one that was applied to the database. Run the version that last used the database, and do not edit migrations.`,
      );
    }
  }
}
