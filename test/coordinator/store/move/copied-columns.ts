import { expect } from "vitest";
import { COPIED_TABLES, REVISIONS } from "../../../../coordinator/store/move/copied-tables.ts";

/** "table.column" of each column that a migration copies. */
const copied = [
  ...COPIED_TABLES.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)),
  ...REVISIONS.map((name) => `${name}.revision`),
];

/** Expects that each column of a schema is copied or listed in `own`. */
export function expectCovered(columns: readonly string[], own: readonly string[]): void {
  const isOwn = (column: string) => own.includes(column) || own.includes(`${column.split(".")[0]}.*`);
  const ids = new Set(["catalog_revision.id"]);
  expect(columns.filter((column) => !isOwn(column) && !ids.has(column)).toSorted()).toEqual(copied.toSorted());
}
