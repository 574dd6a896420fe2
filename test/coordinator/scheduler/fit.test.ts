import { describe, expect, it } from "vitest";
import { fits } from "../../../coordinator/scheduler/fit.ts";
import { GB, makeCargo, makeIsland } from "./builders.ts";

describe("fits()", () => {
  const cargo = { ...makeCargo({ requiredRamBytes: 8 * GB, requiredVramBytes: 4 * GB }), onlyIslandsOf: null };
  const island = makeIsland({ ramBytes: 8 * GB, vramBytes: 4 * GB });

  it("is true when exactly what is required is there", () => {
    expect(fits(cargo, island)).toBe(true);
  });
  it("is true for the one account whose Islands may run it, and no other", () => {
    const own = { ...cargo, onlyIslandsOf: "user_1" };
    expect(fits(own, { ...island, accountId: "user_1" })).toBe(true);
    expect(fits(own, { ...island, accountId: "user_2", runtimes: [] })).toBe("not_own");
  });

  it.each([
    [{ runtimes: [] }, "runtime_missing"],
    [{ ramBytes: 8 * GB - 1 }, "too_little_ram"],
    [{ vramBytes: 4 * GB - 1 }, "too_little_vram"],
    [{ draining: true }, "draining"],
  ])("names what is in the way (%#)", (override, misfit) => {
    expect(fits(cargo, { ...island, ...override })).toBe(misfit);
  });
});
