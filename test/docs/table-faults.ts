import { cellsOf } from "./table-rows.ts";

/** Reads a file of the repository; `null` where there is none. */
export type ReadText = (path: string) => Promise<string | null>;

/**
 * What is wrong with a table that maps each of `rows` to tests. A test is a code span `file › title` or
 * `file › describe › title`; every title must stand in the file as the first argument of a call, as tests have theirs.
 */
export async function faultsOf(table: string, rows: readonly string[], readText: ReadText): Promise<string[]> {
  const known = new Set(rows);
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const [row, tests] of entriesOf(table)) {
    if (!known.has(row)) faults.push(`${row}: is no row of the contract`);
    else if (seen.has(row)) faults.push(`${row}: is there twice`);
    else for (const fault of await faultsOfTests(tests, readText)) faults.push(`${row}: ${fault}`);
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

async function faultsOfTests(tests: string, readText: ReadText): Promise<string[]> {
  const names = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  if (names.length === 0) return ["has no test"];
  const faults: string[] = [];
  for (const name of names) {
    const [path = "", ...titles] = name.split(" › ");
    const source = await readText(path);
    if (source === null) faults.push(`there is no file ${path}`);
    else if (titles.length === 0) faults.push(`names no title in \`${path}\``);
    else {
      const absent = titles.filter((title) => !hasTitle(source, title));
      faults.push(...absent.map((title) => `${path} has no test "${title}"`));
    }
  }
  return faults;
}

function hasTitle(source: string, title: string): boolean {
  const literal = title.replace(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
  return new RegExp(String.raw`\(\s*(["'\`])${literal}\1,`).test(source);
}
