import { beforeAll, describe, expect, it } from "vitest";
import { currentFiles, pythonFiles, readGenerated } from "./write-openapi-types.ts";

let current: Readonly<Record<string, string>>;
beforeAll(async () => {
  current = await currentFiles();
});

describe("npm run sdk:types", () => {
  it("would write what the generated files of both clients are", async () => {
    for (const [path, source] of Object.entries(current)) {
      const committed = await readGenerated(path);
      const differing = source.split("\n").findIndex((line, index) => committed.split("\n")[index] !== line);
      // The first difference says more than a diff of thousands of lines.
      const found = committed === source ? "the same" : `differs from line ${differing + 1}; run npm run sdk:types`;
      expect(`${path}: ${found}`).toBe(`${path}: the same`);
    }
  });

  it("has a source for each file of the sync Python client", async () => {
    expect(await pythonFiles("_sync")).toEqual(await pythonFiles("_async"));
  });
});
