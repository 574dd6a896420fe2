import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RUNTIME_TYPES } from "../../shared/cargo.ts";
import { cellsOf } from "./table-rows.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const text = readFileSync(join(ROOT, "docs", "host", "runtimes.md"), "utf8");

describe("docs/host/runtimes.md", () => {
  it("has one row per runtime type, and no empty cell", () => {
    const rows = text
      .split("\n")
      .map(cellsOf)
      .filter((cells) => cells !== null && /^`\w+`$/.test(cells[0] ?? ""));
    expect(rows.map((cells) => cells?.[0])).toEqual(expect.arrayContaining(RUNTIME_TYPES.map((type) => `\`${type}\``)));
    expect(rows).toHaveLength(RUNTIME_TYPES.length);
    for (const cells of rows) expect(cells?.filter((cell) => cell !== "").length).toBe(6);
  });

  it("names only existing tests", () => {
    const paths = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path ?? "");
    expect(paths.length).toBeGreaterThan(RUNTIME_TYPES.length);
    const isThere = (path: string): boolean => existsSync(join(ROOT, path)) || globSync(path, { cwd: ROOT }).length > 0;
    expect(paths.filter((path) => !isThere(path))).toEqual([]);
  });
});
