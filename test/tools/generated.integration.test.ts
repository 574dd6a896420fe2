import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { currentFiles, ROOT } from "../../tools/generated/files.ts";

describe("npm run generate", () => {
  it("would not change the generated files", async () => {
    for (const [path, source] of Object.entries(await currentFiles())) {
      const committed = await readFile(join(ROOT, path), "utf8");
      const differing = source.split("\n").findIndex((line, index) => committed.split("\n")[index] !== line);
      // Shows only the first difference instead of thousands of lines.
      const found = committed === source ? "the same" : `differs from line ${differing + 1}; run npm run generate`;
      expect(`${path}: ${found}`).toBe(`${path}: the same`);
    }
  });
});
