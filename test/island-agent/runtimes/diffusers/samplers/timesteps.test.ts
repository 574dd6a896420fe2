import { describe, expect, it } from "vitest";
import { timestepsOf } from "../../../../../island-agent/runtimes/diffusers/samplers/timesteps.ts";

const times = (spacing: "linspace" | "leading" | "trailing", steps: number, offset = 0): number[] =>
  timestepsOf({ spacing, offset, count: 1_000 }, steps);

describe("timestepsOf()", () => {
  it("leading, 50 steps, offset 1: 981 to 1, as Stable Diffusion was published with", () => {
    const found = times("leading", 50, 1);
    expect(found).toHaveLength(50);
    expect(found.slice(0, 3)).toEqual([981, 961, 941]);
    expect(found.slice(-2)).toEqual([21, 1]);
  });
  it("trailing, 50 steps: 999 to 19", () => {
    const found = times("trailing", 50, 1);
    expect(found.slice(0, 2)).toEqual([999, 979]);
    expect(found.at(-1)).toBe(19);
  });
  // Lin et al. 2023, table 2: five of a thousand, counted from 1 there.
  it.each([
    ["leading", [800, 600, 400, 200, 0]],
    ["trailing", [999, 799, 599, 399, 199]],
    ["linspace", [999, 749.25, 499.5, 249.75, 0]],
  ] as const)("%s, 5 steps, is the paper's row", (spacing, expected) => {
    expect(times(spacing, 5)).toEqual(expected);
  });
  it.each(["linspace", "trailing"] as const)("%s: one step is the noisiest", (spacing) => {
    expect(times(spacing, 1)).toEqual([999]);
  });
  it.each(["linspace", "leading", "trailing"] as const)(
    "%s: as many steps as training had stay within it",
    (spacing) => {
      const found = times(spacing, 1_000, 1);
      expect(found).toHaveLength(1_000);
      expect(Math.max(...found)).toBe(999);
      expect(Math.min(...found)).toBeGreaterThanOrEqual(0);
    },
  );
});
