import type { CopiedTable } from "./copied-tables.ts";

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
