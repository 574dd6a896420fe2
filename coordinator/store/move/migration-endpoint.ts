import type { LedgerReport } from "../ledger/ledger.ts";
import type { SharedSecrets } from "../secrets/shared-secrets.ts";
import type { CopiedTable, REVISIONS } from "./copied-tables.ts";
import type { MoveMark } from "./move-mark.ts";

/** A column value in a form that does not depend on the database. */
export type CopiedValue = string | bigint | boolean | null;
/** A row, with values in the order of the table's columns. */
export type CopiedRow = readonly CopiedValue[];
export type Revisions = Readonly<Record<(typeof REVISIONS)[number], bigint>>;

/** A data directory or a database. While it is open, the migration has exclusive access. */
export interface MigrationEndpoint {
  /** Name of the endpoint in messages, without a password. */
  readonly name: string;
  readonly secrets: SharedSecrets;
  mark(): Promise<MoveMark | null>;
  /** Marks the source, which then stays closed and unchanged. @throws {DatabaseError} while it is in use. */
  beginSource(mark: MoveMark): Promise<void>;
  /** Marks the target, which coordinators cannot open until {@link completeTarget}. */
  beginTarget(mark: MoveMark): Promise<void>;
  completeSource(): Promise<void>;
  completeTarget(): Promise<void>;
  /** Removes the mark, so that coordinators can open the data again. */
  forget(): Promise<void>;
  /** Returns the next rows of a table in key order, after `afterKey` or from the first row; empty after the last. */
  page(table: CopiedTable, afterKey: CopiedRow | null): Promise<readonly CopiedRow[]>;
  lastKey(table: CopiedTable): Promise<CopiedRow | null>;
  append(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  revisions(): Promise<Revisions>;
  /** Computes the derived tables, once all rows are copied. Can be repeated. */
  derive(revisions: Revisions): Promise<void>;
  verifyLedger(): Promise<LedgerReport>;
  close(): Promise<void>;
}

/** Yields pages of a table's rows in key order, after `afterKey` or from the first row. */
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

/** Returns whether a webhook secret is decrypted. An endpoint copies secrets unchanged that it cannot decrypt. */
export function isClear(value: CopiedValue): value is string {
  return typeof value === "string" && value.startsWith("whsec_");
}
