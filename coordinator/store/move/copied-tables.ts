import { TABLES } from "../steps/schema.ts";
import { columnName, type ColumnKind, type Table } from "../steps/table.ts";

/** A table that both databases have. */
export interface CopiedTable {
  readonly name: string;
  /** Its unique key, in whose order it is copied. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Columns that may be long: they bound how many rows are read at once. */
  readonly long: readonly string[];
  /** The column whose next value PostgreSQL counts; undefined if it counts none. */
  readonly counter: string | undefined;
}

/** Tables with one row, whose number is set at the end. */
export const REVISIONS = ["catalog_revision", "credentials_revision"] as const;

/** Follows from other tables. */
const DERIVED: ReadonlySet<string> = new Set([
  ...REVISIONS,
  "account_usage",
  "earnings_cursor",
  "island_earnings",
  "usage_cursor",
]);

/** All tables with data, in an order that foreign keys allow. {@link REVISIONS} beside them: one number each. */
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

/** Rows that are read at once, at most; of long ones fewer. */
const PAGE_ROWS = 500;

/** The next rows of a table in the order of its key, as FROM and what follows; the last key's values are $1, $2, … unless it is the first page. */
export function nextRowsSql({ name, key }: CopiedTable, isFirst: boolean): string {
  const order = key.join(", ");
  const after = isFirst ? "" : `WHERE (${order}) > (${key.map((_, index) => `$${index + 1}`).join(", ")})`;
  return `FROM ${name} ${after} ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
}

export function lastKeySql({ name, key }: CopiedTable): string {
  return `SELECT ${key.join(", ")} FROM ${name} ORDER BY ${key.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
}
