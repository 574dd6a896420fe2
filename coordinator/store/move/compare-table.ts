import { DatabaseError } from "../database-error.ts";
import type { CopiedTable } from "./copied-tables.ts";
import { keyOf, type CopiedRow, type DataEnd } from "./data-end.ts";

/** Compares a table row by row. Resolves with the number of rows. @throws {DatabaseError} at the first that differs. */
export async function compareTable(from: DataEnd, to: DataEnd, table: CopiedTable): Promise<number> {
  const copies = rowsOf(to, table);
  let count = 0;
  for await (const page of from.pages(table, null)) {
    for (const row of page) {
      const copy = (await copies.next()).value;
      if (copy === undefined || !row.every((value, index) => value === copy[index])) throw difference(to, table, row);
      count += 1;
    }
  }
  const more = await copies.next();
  if (more.done !== true) throw difference(to, table, more.value);
  return count;
}

async function* rowsOf(end: DataEnd, table: CopiedTable): AsyncGenerator<CopiedRow, undefined, void> {
  for await (const page of end.pages(table, null)) yield* page;
}

function difference(to: DataEnd, table: CopiedTable, row: CopiedRow): DatabaseError {
  return new DatabaseError(to.name, `row ${keyOf(table, row).join(" ")} of ${table.name} differs from the original`);
}
