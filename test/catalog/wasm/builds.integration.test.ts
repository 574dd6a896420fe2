import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { compileUtility } from "../../../tools/compile-utility.ts";
import { pinnedCargo, UTILITY_SLUGS } from "./utility.ts";

const hashOf = (wasm: Uint8Array): string => createHash("sha256").update(wasm).digest("hex");

describe("npm run build:wasm", () => {
  it.each(UTILITY_SLUGS)("makes of the sources of %s the module that is shipped", async (slug) => {
    const { sha256, memoryMb } = pinnedCargo(slug);
    expect(hashOf(await compileUtility(slug, memoryMb))).toBe(sha256);
  });
  it("says what is wrong where a program does not compile", async () => {
    await expect(compileUtility("no-such-utility", 1)).rejects.toThrow("no-such-utility: ERROR");
  });
});
