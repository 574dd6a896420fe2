import { cellsOf } from "./table-rows.ts";

/**
 * What is wrong with a table that maps each of `rows` to the test files that show it. Titles of tests are not looked at: a test may be
 * renamed freely.
 * @param isThere whether the repository has a file.
 */
export function faultsOf(table: string, rows: readonly string[], isThere: (path: string) => boolean): string[] {
  const known = new Set(rows);
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const [row, tests] of entriesOf(table)) {
    if (!known.has(row)) faults.push(`${row}: is no row of the contract`);
    else if (seen.has(row)) faults.push(`${row}: is there twice`);
    else faults.push(...faultsOfFiles(tests, isThere).map((fault) => `${row}: ${fault}`));
    seen.add(row);
  }
  return [...faults, ...rows.filter((row) => !seen.has(row)).map((row) => `${row}: has no entry`)];
}

/** The lines of all tables under a head `| Row | Test |`. */
function entriesOf(table: string): [row: string, tests: string][] {
  const cells = table.split("\n").map(cellsOf);
  const body = cells.filter((each) => each !== null && each[0] !== "Row" && !/^-+$/.test(each[0] ?? ""));
  return body.map((each) => [each?.[0] ?? "", each?.[1] ?? ""]);
}

function faultsOfFiles(tests: string, isThere: (path: string) => boolean): string[] {
  const paths = [...tests.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  if (paths.length === 0) return ["names no test file"];
  return paths.flatMap((path) => {
    if (!/^test\/.*\.(?:test|cases)\.ts$/.test(path)) return [`${path} is not a test file`];
    return isThere(path) ? [] : [`there is no file ${path}`];
  });
}
