import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The worked examples: their texts, and of each step the file and the names that it has in it. */
const examples = [...read("CONTRIBUTING.md").matchAll(/^## (Add .*)\n([^]*?)(?=^## |^To publish)/gm)].map(
  ([, title = "", text = ""]) => ({
    title,
    text,
    steps: text
      .split("\n")
      .filter((line) => /^\d\. /.test(line))
      .map((line) => {
        const [path = "", ...names] = [...line.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
        return {
          path: names.length > 0 && path.includes("/") ? path : "",
          names: names.filter((name) => /^\w+$/.test(name)),
        };
      }),
  }),
);

describe("the examples of CONTRIBUTING.md", () => {
  it("are of a stored field of a job and of a table, in few files", () => {
    expect(examples.map(({ title, steps }) => [title, steps.length])).toEqual([
      ["Add a stored field of a job", 5],
      ["Add a table", 4],
    ]);
  });

  it.each(examples)("$title: names only files that exist", ({ text }) => {
    const paths = [...text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+)`/g)].map(([, path = ""]) => path);
    expect(paths.length).toBeGreaterThan(4);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(examples)("$title: the file of each step has what the step names", ({ steps }) => {
    for (const { path, names } of steps) {
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(read(path)))).toEqual([]);
    }
  });

  it("name every file of the store that has to know a field of a job", () => {
    const named = examples[0]?.steps.map(({ path }) => path) ?? [];
    // It comes with a submission, is stored and read back, and means nothing to the coordinator.
    const knowing = globSync("coordinator/store/**/*.ts", { cwd: ROOT }).filter((path) =>
      /\b(?:ignoredParameters|ignored_parameters)\b/.test(read(path)),
    );
    expect(knowing).not.toEqual([]);
    expect(knowing.filter((path) => !named.includes(path))).toEqual([]);
  });
});
