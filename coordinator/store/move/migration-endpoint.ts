import type { LedgerReport } from "../ledger/ledger.ts";
import type { SharedSecrets } from "../secrets/shared-secrets.ts";
import type { CopiedTable, REVISIONS } from "./copied-tables.ts";
import type { MoveMark } from "./move-mark.ts";

/** A value as it is copied: the same whatever database it comes from. */
export type CopiedValue = string | bigint | boolean | null;
/** In the order of the table's columns. */
export type CopiedRow = readonly CopiedValue[];
export type Revisions = Readonly<Record<(typeof REVISIONS)[number], bigint>>;

/** One end of a move of all data: a data directory or a database. It belongs to the mover alone while it is open. */
export interface MigrationEndpoint {
  /** For messages, without a password. */
  readonly name: string;
  readonly secrets: SharedSecrets;
  /** What was noted of a move from here or to here. */
  mark(): Promise<MoveMark | null>;
  /** Notes that a move from here has begun; nobody opens it from now on, and what it has does not change. @throws {DatabaseError} while it is in use. */
  beginSource(mark: MoveMark): Promise<void>;
  /** Notes that a move to here has begun; nobody opens it until {@link completeTarget}. */
  beginTarget(mark: MoveMark): Promise<void>;
  completeSource(): Promise<void>;
  completeTarget(): Promise<void>;
  /** Forgets the move: it may be opened again. */
  forget(): Promise<void>;
  /** The next rows of a table by its key, from the first if `afterKey` is null; empty after the last. */
  page(table: CopiedTable, afterKey: CopiedRow | null): Promise<readonly CopiedRow[]>;
  /** The key of the last row. */
  lastKey(table: CopiedTable): Promise<CopiedRow | null>;
  /** Adds rows in one commit. */
  append(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>;
  revisions(): Promise<Revisions>;
  /** After the last row: what is derived from the rows. May be called again. */
  derive(revisions: Revisions): Promise<void>;
  verifyLedger(): Promise<LedgerReport>;
  close(): Promise<void>;
}

/** All rows of a table by its key; those after `afterKey` unless it is null. */
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
  const names = Object.keys(columns);
  return key.map((name) => row[names.indexOf(name)] as CopiedValue);
}

/** A secret that its end could not unseal is copied as it is. */
export function isClear(value: CopiedValue): value is string {
  return typeof value === "string" && value.startsWith("whsec_");
}
