import { cellsOf } from "./table-rows.ts";

/**
 * Returns the faults of a table that maps each of `rows` to the test files that show it. Titles of tests are ignored,
 * so that tests can be renamed.
 * @param isThere whether the repository has a file.
 */
export function faultsOf(table: string, rows: readonly string[], isThere: (path: string) => boolean): string[] {
  const known = new Set(rows);
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const [row, tests] of entriesOf(table)) {
    if (!known.has(row)) faults.push(`${row}: is not a row of the spec`);
    else if (seen.has(row)) faults.push(`${row}: is there twice`);
    else faults.push(...faultsOfFiles(tests, isThere).map((fault) => `${row}: ${fault}`));
    seen.add(row);
  }
  return [...faults, ...rows.filter((row) => !seen.has(row)).map((row) => `${row}: has no entry`)];
}

/**
 * Returns the rows of all tables with the head `| Row | Test |`. A row with an empty first cell continues the previous
 * one.
 */
export function entriesOf(table: string): [row: string, tests: string][] {
  const entries: [row: string, tests: string][] = [];
  for (const [row = "", tests = ""] of table.split("\n").flatMap((line) => [cellsOf(line) ?? []])) {
    if (tests === "" && row === "") continue;
    const last = entries.at(-1);
    if (row === "" && last !== undefined) last[1] += tests;
    else if (row !== "Row" && !/^-+$/.test(row)) entries.push([row, tests]);
  }
  return entries;
}

function faultsOfFiles(tests: string, isThere: (path: string) => boolean): string[] {
  const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  if (paths.length === 0) return ["names no test file"];
  return paths.flatMap((path) => {
    if (!/^test\/.*\.(?:test|cases)\.ts$/.test(path)) return [`${path} is not a test file`];
    return isThere(path) ? [] : [`there is no file ${path}`];
  });
}
