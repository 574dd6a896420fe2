import type { LedgerReport } from "../ledger/ledger.ts";
import type { SharedSecrets } from "../secrets/shared-secrets.ts";
import type { CopiedTable, REVISIONS } from "./copied-tables.ts";
import type { MoveMark } from "./move-mark.ts";

/** Independent of the database. */
export type CopiedValue = string | bigint | boolean | null;
/** In the order of the table's columns. */
export type CopiedRow = readonly CopiedValue[];
export type Revisions = Readonly<Record<(typeof REVISIONS)[number], bigint>>;

/** A data directory or a database. While open, it is exclusive to the migration. */
export interface MigrationEndpoint {
  /** Name for messages, without a password. */
  readonly name: string;
  readonly secrets: SharedSecrets;
  mark(): Promise<MoveMark | null>;
  /** Marks the source, which then cannot be opened and does not change. @throws {DatabaseError} while it is in use. */
  beginSource(mark: MoveMark): Promise<void>;
  /** Marks the target, which cannot be opened until {@link completeTarget}. */
  beginTarget(mark: MoveMark): Promise<void>;
  completeSource(): Promise<void>;
  completeTarget(): Promise<void>;
  /** Removes the mark. */
  forget(): Promise<void>;
  /** Returns the next rows of a table in key order, from the first if `afterKey` is null; empty after the last. */
  page(table: CopiedTable, afterKey: CopiedRow | null): Promise<readonly CopiedRow[]>;
  lastKey(table: CopiedTable): Promise<CopiedRow | null>;
  /** Adds rows in one commit. */
  append(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  revisions(): Promise<Revisions>;
  /** Updates what is derived from the rows, after the last row. May be called repeatedly. */
  derive(revisions: Revisions): Promise<void>;
  verifyLedger(): Promise<LedgerReport>;
  close(): Promise<void>;
}

/** Yields the rows of a table in key order, from the first if `afterKey` is null. */
export async function* pagesOf(
  end: MigrationEndpoint,
  table: CopiedTable,
  afterKey: CopiedRow | null = null,
): AsyncGenerator<readonly CopiedRow[], void, void> {
  for (let key = afterKey; ;) {
    const page = await end.page(table, key);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    key = keyOf(table, last);
  }
}

export function keyOf({ key, columns }: CopiedTable, row: CopiedRow): CopiedRow {
  return key.map((name) => row[columns.indexOf(name)] as CopiedValue);
}

/** False for a secret that its end could not decrypt, which is copied unchanged. */
export function isClear(value: CopiedValue): value is string {
  return typeof value === "string" && value.startsWith("whsec_");
}
