import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const page = read("docs/internals/code-style.md");

/** Code blocks, each with the path of its file from the comment in its first line. */
const excerpts = [...page.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm)].map(([, path = "", code = ""]) => ({
  path,
  code,
}));

describe("docs/internals/code-style.md", () => {
  it("has fifteen numbered rules and at most 1,200 words", () => {
    expect([...page.matchAll(/^## (\d+)\. /gm)].map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
    expect(page.trim().split(/\s+/).length).toBeLessThanOrEqual(1_200);
    expect(excerpts).toHaveLength([...page.matchAll(/^```\w/gm)].length);
  });

  it.each(excerpts)("quotes the current text of $path", ({ path, code }) => {
    expect(existsSync(join(ROOT, path)), path).toBe(true);
    expect(read(path)).toContain(code);
  });
});
