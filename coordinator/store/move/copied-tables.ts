import { TABLES } from "../steps/schema.ts";
import { columnName, type ColumnKind, type Table } from "../steps/table.ts";

/** A table that exists in both databases. */
export interface CopiedTable {
  readonly name: string;
  /** Unique key, in whose order it is copied. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Columns with long values, which limit the rows per page. */
  readonly long: readonly string[];
  /** Column whose next value PostgreSQL generates; undefined if there is none. */
  readonly counter: string | undefined;
}

/** Tables with one row, whose number is set at the end. */
export const REVISIONS = ["catalog_revision", "credentials_revision"] as const;

/** Tables that are derived from others. */
const DERIVED: ReadonlySet<string> = new Set([
  ...REVISIONS,
  "account_usage",
  "earnings_cursor",
  "island_earnings",
  "usage_cursor",
]);

/** All tables with data, in an order that foreign keys allow. Excludes {@link REVISIONS}, which have one number each. */
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
    columns: Object.fromEntries(columns.map(([column, { kind }]) => [column, kind])),
    long: columns
      .filter(([, { kind }]) => ["text", "json", "written", "inner"].includes(kind))
      .map(([column]) => column),
    counter: columnsWith("AS IDENTITY")[0],
  };
}

/** Maximum number of rows per page; long rows reduce it. */
const PAGE_ROWS = 500;

/**
 * Returns the SQL, from FROM on, of a table's next rows in key order. The values of the last key are $1, $2, … unless it is the first page.
 */
export function nextRowsSql({ name, key }: CopiedTable, isFirst: boolean): string {
  const order = key.join(", ");
  const after = isFirst ? "" : `WHERE (${order}) > (${key.map((_, index) => `$${index + 1}`).join(", ")})`;
  return `FROM ${name} ${after} ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
}

export function lastKeySql({ name, key }: CopiedTable): string {
  return `SELECT ${key.join(", ")} FROM ${name} ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
}
