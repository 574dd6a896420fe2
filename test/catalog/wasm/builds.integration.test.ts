import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { compileUtility } from "../../../tools/compile-utility.ts";
import { pinnedCargo, UTILITY_SLUGS } from "./utility.ts";

const hashOf = (wasm: Uint8Array): string => createHash("sha256").update(wasm).digest("hex");

describe("npm run build:wasm", () => {
  it.each(UTILITY_SLUGS)("builds the shipped module of %s from its sources", async (slug) => {
    const { sha256, memoryMb } = pinnedCargo(slug);
    expect(hashOf(await compileUtility(slug, memoryMb))).toBe(sha256);
  });
  it("reports the location of a compile error", async () => {
    await expect(compileUtility("no-such-utility", 1)).rejects.toThrow("no-such-utility: ERROR");
  });
});
