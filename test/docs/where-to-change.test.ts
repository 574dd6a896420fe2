import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const page = read("docs/internals/where-to-change.md");
/** Worked examples. Each has a text, and for each step a file with the names that the file must contain. */
const examples = [...page.matchAll(/^## (Add .*)\n([^]*?)(?=^## |$(?![^]))/gm)].map(([, title = "", text = ""]) => ({
  title,
  text,
  steps: [...text.matchAll(/^\d\. [^]*?(?=\n\d\. |\n\n)/gm)].map(([step]) => {
    const [path = "", ...names] = [...step.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
    return {
      path: names.length > 0 && path.includes("/") ? path : "",
      names: names.filter((name) => /^\w+$/.test(name)),
    };
  }),
}));

describe("the examples of docs/internals/where-to-change.md", () => {
  it("explain a chat parameter, a stored field of a job and a table in few steps", () => {
    expect(examples.map(({ title, steps }) => [title, steps.length])).toEqual([
      ["Add a chat parameter", 5],
      ["Add a stored field of a job", 5],
      ["Add a table", 4],
    ]);
  });

  it.each(examples)("$title: names only files that exist", ({ text }) => {
    const paths = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(4);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(examples)("$title: the file of each step contains its names", ({ steps }) => {
    for (const { path, names } of steps) {
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(read(path)))).toEqual([]);
    }
  });

  it("name every file of the store that uses a submitted field of a job", () => {
    const named =
      examples.find(({ title }) => title === "Add a stored field of a job")?.steps.map(({ path }) => path) ?? [];
    // A field of submissions that the coordinator stores and reads back without using it.
    const knowing = globSync("coordinator/store/**/*.ts", { cwd: ROOT }).filter((path) =>
      /\b(?:ignoredParameters|ignored_parameters)\b/.test(read(path)),
    );
    expect(knowing).not.toEqual([]);
    expect(knowing.filter((path) => !named.includes(path))).toEqual([]);
  });
});

describe("docs/internals/where-to-change.md", () => {
  it("names existing tests in each row of its tables", () => {
    const rows = page.split("\n").flatMap((line) => (/^\| (?!Change )/.test(line) ? [line.split(" | ")] : []));
    expect(rows.length).toBeGreaterThan(25);
    const tests = rows.map((cells) => [...(cells[2] ?? "").matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path));
    expect(rows.filter((_, index) => tests[index]?.length === 0)).toEqual([]);
    expect(tests.flat().filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("has at most 1,200 words", () => {
    expect(page.trim().split(/\s+/).length).toBeLessThanOrEqual(1_200);
  });
});
