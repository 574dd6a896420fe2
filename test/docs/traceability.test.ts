import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entriesOf, faultsOf } from "./table-faults.ts";
import { rowsOf } from "./table-rows.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const document = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const isThere = (path: string): boolean => existsSync(join(ROOT, path));

const SPEC_SECTIONS = [2, 3, 4, 5, 6, 7, 8, 9];
const [specTables = "", otherTable = ""] = document("test/traceability.md").split("## Beyond the spec");

describe("test/traceability.md", () => {
  it("names test files for every row of SPEC.md, and has no other rows", () => {
    expect(faultsOf(specTables, rowsOf(document("docs/SPEC.md"), SPEC_SECTIONS), isThere)).toEqual([]);
  });

  it("names test files for every row beyond the spec", () => {
    const rows = entriesOf(otherTable).map(([row]) => row);
    expect(rows.length).toBeGreaterThan(30);
    expect(faultsOf(otherTable, rows, isThere)).toEqual([]);
  });
});

describe("rowsOf()", () => {
  it("reads tables, rules and headings, and numbers duplicates", () => {
    const text = [
      "## 1. Left out\n| A |\n|---|\n| x |",
      "## 2. Read\n### Job\n| Field | Type |\n|---|---|\n| id | string |\n",
      "| Field |\n|---|\n| id |\n\n1. One\n2. Two",
      "### Other\n- Three\n| Method | Path |\n|---|---|\n| GET | /a |\n| GET | /b |",
      "## 3. Left out\n1. Not this",
    ].join("\n");
    expect(rowsOf(text, [2])).toEqual([
      "SPEC §2 Job, Field: id",
      "SPEC §2 Job, Field: id (2)",
      "SPEC §2 Job, rule 1",
      "SPEC §2 Job, rule 2",
      "SPEC §2 Other, rule 1",
      "SPEC §2 Other, Method: GET /a",
      "SPEC §2 Other, Method: GET /b",
    ]);
  });
});

describe("faultsOf()", () => {
  const isThere = (path: string): boolean => /^test\/[ab]\.test\.ts$/.test(path);
  const faults = (tests: string) => faultsOf(`| Row | Test |\n|---|---|\n| r | ${tests} |`, ["r"], isThere);

  it.each(["`test/a.test.ts`", "`test/a.test.ts`<br>`test/b.test.ts`"])("accepts %s", (tests) => {
    expect(faults(tests)).toEqual([]);
  });

  it.each([
    ["", "r: names no test file"],
    ["by hand", "r: names no test file"],
    ["`test/c.test.ts`", "r: there is no file test/c.test.ts"],
    ["`test/a.test.ts`<br>`test/c.test.ts`", "r: there is no file test/c.test.ts"],
    ["`test/a.test.ts › title`", "r: test/a.test.ts › title is not a test file"],
    ["`coordinator/a.ts`", "r: coordinator/a.ts is not a test file"],
  ])("reports %j", (tests, fault) => {
    expect(faults(tests)).toEqual([fault]);
  });

  it("appends a row with an empty first cell to the previous row", () => {
    expect(faults("`test/a.test.ts` |\n| | `test/b.test.ts`")).toEqual([]);
    expect(faults("`test/a.test.ts` |\n| | `test/c.test.ts`")).toEqual(["r: there is no file test/c.test.ts"]);
  });

  it("reports missing, unknown and repeated rows", () => {
    const row = "| known | `test/a.test.ts` |";
    const table = `| Row | Test |\n|---|---|\n${row}\n${row}\n${row.replace("known", "old")}`;
    expect(faultsOf(table, ["known", "new"], isThere)).toEqual([
      "known: is there twice",
      "old: is not a row of the spec",
      "new: has no entry",
    ]);
  });
});
