import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERROR_STATUS, JOB_ERROR_CODES } from "../../shared/errors.ts";
import { withErrorTables } from "../../tools/generated/error-tables.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "..", "docs", "use", "errors-and-limits.md"), "utf8");

/** Returns the first cell of each row between two headings. */
function codesBetween(text: string, heading: string, next: string): string[] {
  const [, section = ""] = text.split(`\n## ${heading}\n`);
  const [rows = ""] = section.split(`\n## ${next}\n`);
  return [...rows.matchAll(/^\| `(\w+)` \|/gm)].map(([, code = ""]) => code);
}

describe("withErrorTables()", () => {
  it("writes a row for each code of a response and of a job, and leaves the rest of the page", () => {
    const emptied = PAGE.replaceAll(/(^\|---.*\n)(?:\| `\w+` \|.*\n)+/gm, "$1");
    const filled = withErrorTables(emptied);
    expect(codesBetween(filled, "Codes of responses", "Codes of jobs").toSorted()).toEqual(
      Object.keys(ERROR_STATUS).toSorted(),
    );
    expect(codesBetween(filled, "Codes of jobs", "Rate limits")).toEqual([...JOB_ERROR_CODES]);
    expect(filled.replaceAll(/^\| `\w+` \|.*\n/gm, "")).toBe(emptied.replaceAll(/^\| `\w+` \|.*\n/gm, ""));
  });

  it("throws for a page that lacks a table", () => {
    expect(() => withErrorTables("# Errors\n")).toThrow("no table with the head | Code | Status |");
  });
});
