import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const lines = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8").split("\n");

/** Source files and folders named in backticks, with their folder. */
const pathsIn = (line: string): string[] =>
  [...line.matchAll(/`([\w.-]+\/(?:[\w./-]+\.ts|[\w./-]*\/)?)`/g)].map(([, path = ""]) => path);
const missing = (paths: readonly string[]): string[] => paths.filter((path) => !existsSync(join(ROOT, path)));

describe("ARCHITECTURE.md", () => {
  it("names only files and folders that exist in its tables", () => {
    const paths = lines
      .filter((line) => /^\| .*`(?:bin|coordinator|island-agent|shared|test)\//.test(line))
      .flatMap(pathsIn);
    expect(paths.length).toBeGreaterThan(60);
    const isShort = (path: string): boolean =>
      /^(?!bin|catalog|coordinator|docs|island-agent|sdk|shared|test|bench|tools)/.test(path);
    expect(missing(paths.filter((path) => !isShort(path)))).toEqual([]);
  });

  it("names only files that exist on the way of a job", () => {
    const steps = lines.filter((line) => /^\d+\. (?!\*\*)/.test(line));
    expect(steps.length).toBe(21);
    const paths = steps.flatMap((line) => {
      const step = Number.parseInt(line, 10);
      const program = step >= 10 && step <= 15 ? "island-agent" : "coordinator";
      return pathsIn(line).map((path) => (path.startsWith("shared/") ? path : `${program}/${path}`));
    });
    expect(paths.length).toBeGreaterThan(40);
    expect(missing(paths)).toEqual([]);
  });
});
