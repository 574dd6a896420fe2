import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const FOLDER = "docs/internals/decisions";
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const records = globSync(`${FOLDER}/[0-9]*.md`, { cwd: ROOT })
  .toSorted()
  .map((path) => ({ path, name: basename(path), text: read(path) }));

describe("decision records", () => {
  it("are numbered, and the list names each of them with its title", () => {
    const rows = records.map(({ name, text }) => {
      const [, number, title] = /^# (\d{4})\. (.+)\n/.exec(text) ?? [];
      expect(name.slice(0, 4)).toBe(number);
      return `| [${number}](${name}) | ${title} |`;
    });
    expect(rows.length).toBeGreaterThan(25);
    expect(new Set(records.map(({ name }) => name.slice(0, 4))).size).toBe(records.length);
    const list = read(`${FOLDER}/README.md`);
    expect(list.split("\n").filter((line) => line.startsWith("| ["))).toEqual(rows);
  });

  it.each(records)("$name has at most 300 words, and context, options, choice, consequence", ({ text }) => {
    expect(text.trim().split(/\s+/).length).toBeLessThanOrEqual(300);
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      "Context",
      "Options",
      "Choice",
      "Consequence",
    ]);
  });

  it.each(records)("$name names tests and files that exist", ({ text }) => {
    const [, tests = ""] = /^Tests: (.+)\.$/m.exec(text) ?? [];
    expect(tests).toMatch(/^`test\/[\w./-]+\.(?:test|cases)\.ts`/);
    const paths = [...text.matchAll(/`((?:bench|bin|coordinator|island-agent|shared|test)\/[\w./-]*)`/g)];
    const missing = paths.map(([, path = ""]) => path).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });

  it("exist if a comment names them", () => {
    const numbers = new Set(records.map(({ name }) => name.slice(0, 4)));
    const sources = ["bench", "bin", "coordinator", "island-agent", "shared", "test"].flatMap((folder) =>
      globSync(`${folder}/**/*.ts`, { cwd: ROOT, exclude: (path) => /(?:^|\/)node_modules$/.test(path) }),
    );
    const named = sources.flatMap((path) =>
      [...read(path).matchAll(/\bdecision (\d{4})\b/g)].map(([, number = ""]) => `${path}: ${number}`),
    );
    expect(named).not.toEqual([]);
    expect(named.filter((each) => !numbers.has(each.slice(-4)))).toEqual([]);
  });
});
