import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { longCells, MAX_CELL_CHARS, patternsIn } from "./patterns.ts";
import { textsOf } from "./texts.ts";

/**
 * `npm run check:prose` finds patterns of stilted English, and fails if a file contains more of them than its budget
 * allows. `-- --lower` lowers the budgets to the current counts. Never raise a budget: rewrite the sentence, or list it
 * under `exceptions` if it is correct.
 */

interface Budgets {
  /** Correct texts that match a pattern: `path: part of the text`. */
  readonly exceptions: readonly string[];
  /** Maximum number of cases by file; 0 for all other files. */
  readonly files: Readonly<Record<string, number>>;
}

interface Case {
  readonly path: string;
  readonly line: number;
  readonly what: string;
  readonly text: string;
}

const ROOT = join(import.meta.dirname, "..", "..");
const BUDGETS = join(import.meta.dirname, "budgets.json");
/** Files that must not change, or that contain the patterns. */
const LEFT_OUT = new Set(["docs/SPEC.md", "tools/prose/patterns.ts"]);

const { exceptions, files } = JSON.parse(readFileSync(BUDGETS, "utf8")) as Budgets;
const isException = ({ path, text }: Case): boolean =>
  exceptions.some((exception) => {
    const [exceptedPath = "", ...part] = exception.split(": ");
    return exceptedPath === path && text.includes(part.join(": "));
  });

function casesOf(path: string): Case[] {
  return textsOf(path, readFileSync(join(ROOT, path), "utf8")).flatMap(({ kind, line, text }) => {
    const found = patternsIn(text).map((what) => ({ path, line, what: `${kind}: ${what}`, text }));
    const cells = kind === "document" ? longCells(text) : [];
    return [
      ...found,
      ...cells.map((cell) => ({
        path,
        line,
        what: `a cell of ${cell.length} characters (${MAX_CELL_CHARS})`,
        text: cell,
      })),
    ];
  });
}

const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n");
const cases = Map.groupBy(
  tracked
    .filter((path) => path !== "" && !LEFT_OUT.has(path) && existsSync(join(ROOT, path)))
    .flatMap(casesOf)
    .filter((found) => !isException(found)),
  ({ path }) => path,
);

if (process.argv.includes("--lower")) {
  const lowered = Object.entries(files).flatMap(([path, budget]) => {
    const count = Math.min(budget, cases.get(path)?.length ?? 0);
    return count === 0 ? [] : [[path, count] as const];
  });
  writeFileSync(BUDGETS, `${JSON.stringify({ exceptions, files: Object.fromEntries(lowered) }, null, 2)}\n`);
} else {
  for (const [path, found] of cases) {
    const budget = files[path] ?? 0;
    if (found.length <= budget) continue;
    process.exitCode = 1;
    process.stderr.write(`${path}: ${found.length} cases, and ${budget} are permitted\n`);
    for (const { line, what, text } of found)
      process.stderr.write(`  ${path}:${line} ${what}: ${text.slice(0, 200)}\n`);
  }
  for (const [path, budget] of Object.entries(files)) {
    const count = cases.get(path)?.length ?? 0;
    if (count >= budget) continue;
    process.exitCode = 1;
    process.stderr.write(`${path}: ${count} cases are left of ${budget}; run npm run check:prose -- --lower\n`);
  }
}
