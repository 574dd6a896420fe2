import { TABLES } from "../steps/schema.ts";
import { columnName, type ColumnKind, type Table } from "../steps/table.ts";

/** A table that exists in SQLite and in PostgreSQL, as a migration copies it. */
export interface CopiedTable {
  readonly name: string;
  /** Columns of a unique key, by which rows are ordered. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Kinds of the columns, in the same order. */
  readonly kinds: readonly ColumnKind[];
  /** Columns with values of any length, because of which a page is also limited in bytes. */
  readonly long: readonly string[];
  /** Column that PostgreSQL fills from a sequence; undefined if no column is. */
  readonly counter: string | undefined;
}

export const REVISIONS = ["catalog_revision", "credentials_revision"] as const;

/** Tables that are not copied, because their content is computed from other tables. */
const DERIVED: ReadonlySet<string> = new Set([
  ...REVISIONS,
  "account_usage",
  "earnings_cursor",
  "island_earnings",
  "usage_cursor",
]);

/** All copied tables, in an order that foreign keys allow. */
export const COPIED_TABLES: readonly CopiedTable[] = TABLES.filter(
  ({ name, rules }) => rules.onlyIn === undefined && !DERIVED.has(name),
).map(copiedTable);

function copiedTable({ name, definition, rules }: Table): CopiedTable {
  const both = Object.entries(definition).filter(([, { onlyIn }]) => onlyIn === undefined);
  const columns = both.map(([member, column]) => [columnName(member, column), column] as const);
  const columnsWith = (rule: string): string[] =>
    columns.filter(([, column]) => JSON.stringify(column).includes(rule)).map(([column]) => column);
  const [, listed] = /PRIMARY KEY \((.*)\)/.exec(rules.rules?.join() ?? "") ?? [];
  return {
    name,
    key: listed?.split(", ") ?? columnsWith("PRIMARY KEY"),
    columns: columns.map(([column]) => column),
    kinds: columns.map(([, { kind }]) => kind),
    long: columns
      .filter(([, { kind }]) => ["text", "json", "written", "inner"].includes(kind))
      .map(([column]) => column),
    counter: columnsWith("AS IDENTITY")[0],
  };
}

const PAGE_ROWS = 500;

/** Returns SQL, from FROM on, for the next rows in key order. Unless `isFirst`, $1, $2, … are the last key read. */
export function nextRowsSql({ name, key }: CopiedTable, isFirst: boolean): string {
  const order = key.join(", ");
  const after = isFirst ? "" : `WHERE (${order}) > (${key.map((_, index) => `$${index + 1}`).join(", ")})`;
  return `FROM ${name} ${after} ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
}

export function lastKeySql({ name, key }: CopiedTable): string {
  return `SELECT ${key.join(", ")} FROM ${name} ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
}
