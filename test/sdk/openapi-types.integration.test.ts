import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { currentTypes, TYPES_FILE } from "./write-openapi-types.ts";

it("sdk/typescript/src/openapi.ts is what `npm run sdk:types` writes now", async () => {
  const [committed, current] = await Promise.all([readFile(TYPES_FILE, "utf8"), currentTypes()]);
  const differing = current.split("\n").findIndex((line, index) => committed.split("\n")[index] !== line);
  // The first difference says more than a diff of thousands of lines.
  expect(committed === current ? "the same" : `differs from line ${differing + 1}; run npm run sdk:types`).toBe(
    "the same",
  );
});
