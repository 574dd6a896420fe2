import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OXLINT = join(ROOT, "node_modules/oxlint/bin/oxlint");

/** Linted folders, so that node_modules is excluded. */
const LINTED_FOLDERS = ["bin", "coordinator", "island-agent", "sdk", "shared"];

/** Lines that violate a rule, each with its rule and its file. */
const BAD_LINES: readonly [line: string, rule: string, path: string][] = [
  ["export const a = Date.now();", "no-restricted-properties", "coordinator/date-now.ts"],
  ["export const a = process.env;", "no-restricted-properties", "coordinator/process-env.ts"],
  ["process.exit(1);", "no-restricted-properties", "island-agent/process-exit.ts"],
  ["setTimeout(() => {}, 1);", "no-restricted-globals", "shared/set-timeout.ts"],
  ["setInterval(() => {}, 1);", "no-restricted-globals", "coordinator/set-interval.ts"],
  ['console.log("a");', "no-console", "island-agent/console.ts"],
  ["setTimeout(() => {}, 1);", "no-restricted-globals", "bin/set-timeout.ts"],
  ["export const a = (b: any): void => b;", "no-explicit-any", "shared/any.ts"],
  ['console.log("a");', "no-console", "sdk/typescript/src/console.ts"],
  ["export default 1;", "no-default-export", "shared/default-export.ts"],
  [
    'import { join } from "node:path";\nimport type { ParsedPath } from "node:path";\nexport const a: ParsedPath | string = join("a");',
    "no-duplicate-imports",
    "shared/imports-twice.ts",
  ],
  // A cycle of three files, one of whose links is a type.
  ['export { b as a } from "./circle-b.ts";', "no-cycle", "shared/circle-a.ts"],
  ['export { c as b } from "./circle-c.ts";', "no-cycle", "shared/circle-b.ts"],
  [
    'import type { a } from "./circle-a.ts";\nexport const c = (): typeof a | null => null;',
    "no-cycle",
    "shared/circle-c.ts",
  ],
  ["const a = async (): Promise<void> => {};\na();", "no-floating-promises", "coordinator/floating-promise.ts"],
];
/** Lines that are allowed in their files. */
const GOOD_LINES: readonly [line: string, path: string][] = [
  ["console.log(process.env);\nprocess.exit(1);", "bin/ends-the-process.ts"],
  ["export const a = Date.now();\nsetTimeout(() => {}, 1);", "shared/clock.ts"],
  ["export const a = Date.now();\nsetTimeout(() => {}, 1);", "sdk/typescript/src/timing.ts"],
  [`${"\n".repeat(299)}export const a = 1;`, "shared/as-long-as-it-may-be.ts"],
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

describe("oxlint with the project's rules", () => {
  let folder: string;
  let diagnostics: readonly Diagnostic[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "atoll-lint-"));
    for (const name of [".oxlintrc.json", "tsconfig.json", "package.json"])
      cpSync(join(ROOT, name), join(folder, name));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [line, path] of [...BAD_LINES.map(([line, , path]) => [line, path] as const), ...GOOD_LINES]) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), `${line}\n`);
    }
    diagnostics = await lint(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const reportsOf = (path: string): string[] =>
    diagnostics.filter(({ filename }) => filename.endsWith(path)).map(({ code }) => code);

  it.each(BAD_LINES.map(([line, rule, path]) => ({ line: line.trim(), rule, path })))(
    "reports $line by $rule",
    ({ rule, path }) => {
      expect(reportsOf(path)).toContainEqual(expect.stringContaining(`(${rule})`));
    },
  );
  it.each(GOOD_LINES.map(([line, path]) => ({ line: line.trim(), path })))("allows $line in $path", ({ path }) => {
    expect(reportsOf(path).filter((code) => /restricted|console/.test(code))).toEqual([]);
  });
});

/** Runs oxlint, which exits with 1 if it reports something. */
function lint(cwd: string): Promise<readonly Diagnostic[]> {
  return new Promise((resolve, reject) => {
    const args = [OXLINT, "--type-aware", "--format", "json", ...LINTED_FOLDERS];
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) => {
      try {
        resolve((JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics);
      } catch (cause) {
        reject(new Error(`oxlint printed no JSON: ${stderr} ${error?.message ?? ""}`, { cause }));
      }
    });
  });
}
