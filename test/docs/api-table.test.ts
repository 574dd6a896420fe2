import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { faultsOf } from "./table-faults.ts";
import { rowsOf } from "./table-rows.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const readText = (path: string): Promise<string | null> => readFile(join(ROOT, path), "utf8").catch(() => null);
const document = async (path: string): Promise<string> => (await readText(path)) ?? expect.fail(`There is no ${path}`);

const SPEC = { name: "SPEC", sections: [2, 3, 4, 5, 6, 7, 8, 9] } as const;
const DESIGN = { name: "DESIGN", sections: [4] } as const;

describe("docs/api.md", () => {
  it("has a test for every row of SPEC.md and of DESIGN §4, and no row beside them", async () => {
    const rows = [...rowsOf(await document("docs/SPEC.md"), SPEC), ...rowsOf(await document("docs/DESIGN.md"), DESIGN)];
    expect(await faultsOf(await document("docs/api.md"), rows, readText)).toEqual([]);
  });
});

describe("rowsOf()", () => {
  it("reads tables, rules and headings, and tells equal ones apart", () => {
    const text = [
      "## 1. Left out\n| A |\n|---|\n| x |",
      "## 2. Read\n### Job\n| Field | Type |\n|---|---|\n| id | string |\n",
      "| Field |\n|---|\n| id |\n\n1. One\n2. Two",
      "### Other\n- Three\n| Method | Path |\n|---|---|\n| GET | /a |\n| GET | /b |",
      "## 3. Left out\n1. Not this",
    ].join("\n");
    expect(rowsOf(text, { name: "SPEC", sections: [2] })).toEqual([
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
  const SOURCE =
    'describe("group", () => {\n  it("is so", () => {});\n  it.each([1])(\n    "is %i",\n  (n) => {});\n});\n// is told';
  const read = async (path: string): Promise<string | null> => (path === "test/a.test.ts" ? SOURCE : null);
  const faults = (tests: string) => faultsOf(`| Row | Test |\n|---|---|\n| r | ${tests} |`, ["r"], read);

  it.each(["`test/a.test.ts › is so`", "`test/a.test.ts › group › is %i`<br>`test/a.test.ts › is so`"])(
    "has nothing against %s",
    async (tests) => {
      expect(await faults(tests)).toEqual([]);
    },
  );

  it.each([
    ["", "r: has no test"],
    ["by hand", "r: has no test"],
    ["`test/a.test.ts`", "r: names no title in `test/a.test.ts`"],
    ["`test/b.test.ts › is so`", "r: there is no file test/b.test.ts"],
    ["`test/a.test.ts › is not so`", 'r: test/a.test.ts has no test "is not so"'],
    ["`test/a.test.ts › is told`", 'r: test/a.test.ts has no test "is told"'],
    ["`test/a.test.ts › is so`<br>`test/a.test.ts › made up`", 'r: test/a.test.ts has no test "made up"'],
    ["`test/a.test.ts › troupe › is so`", 'r: test/a.test.ts has no test "troupe"'],
  ])("reports %j", async (tests, fault) => {
    expect(await faults(tests)).toEqual([fault]);
  });

  it("reports rows that are missing, unknown or there twice", async () => {
    const row = "| known | `test/a.test.ts › is so` |";
    const table = `| Row | Test |\n|---|---|\n${row}\n${row}\n${row.replace("known", "old")}`;
    expect(await faultsOf(table, ["known", "new"], read)).toEqual([
      "known: is there twice",
      "old: is no row of the contract",
      "new: has no entry",
    ]);
  });
});
