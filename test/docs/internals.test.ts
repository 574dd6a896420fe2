import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = globSync("docs/internals/*.md", { cwd: ROOT }).toSorted();

describe("the pages of docs/internals", () => {
  it.each(pages)("%s names only files and folders that exist", (page) => {
    const paths = [
      ...read(page).matchAll(/`((?:bench|bin|coordinator|island-agent|sdk|shared|test|tools|web)\/[\w./-]*)`/g),
    ].map(([, path = ""]) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(pages)("%s has at most 1,500 words", (page) => {
    expect(read(page).trim().split(/\s+/).length).toBeLessThanOrEqual(1_500);
  });
});
