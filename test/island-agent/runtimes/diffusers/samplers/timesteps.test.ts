import { describe, expect, it } from "vitest";
import { timestepsOf } from "../../../../../island-agent/runtimes/diffusers/samplers/timesteps.ts";

const times = (spacing: "linspace" | "leading" | "trailing", steps: number, offset = 0): number[] =>
  timestepsOf({ spacing, offset, count: 1_000 }, steps);

describe("timestepsOf()", () => {
  it("returns 981 to 1 for leading spacing, 50 steps and offset 1, as published with Stable Diffusion", () => {
    const found = times("leading", 50, 1);
    expect(found).toHaveLength(50);
    expect(found.slice(0, 3)).toEqual([981, 961, 941]);
    expect(found.slice(-2)).toEqual([21, 1]);
  });
  it("returns 999 to 19 for trailing spacing and 50 steps", () => {
    const found = times("trailing", 50, 1);
    expect(found.slice(0, 2)).toEqual([999, 979]);
    expect(found.at(-1)).toBe(19);
  });
  // Lin et al. 2023, table 2, shows 5 of 1,000 timesteps. The paper counts from 1.
  it.each([
    ["leading", [800, 600, 400, 200, 0]],
    ["trailing", [999, 799, 599, 399, 199]],
    ["linspace", [999, 749.25, 499.5, 249.75, 0]],
  ] as const)("matches the paper for %s spacing and 5 steps", (spacing, expected) => {
    expect(times(spacing, 5)).toEqual(expected);
  });
  it.each(["linspace", "trailing"] as const)("returns the noisiest timestep for %s spacing and 1 step", (spacing) => {
    expect(times(spacing, 1)).toEqual([999]);
  });
  it.each(["linspace", "leading", "trailing"] as const)(
    "stays within the training timesteps for %s spacing and as many steps",
    (spacing) => {
      const found = times(spacing, 1_000, 1);
      expect(found).toHaveLength(1_000);
      expect(Math.max(...found)).toBe(999);
      expect(Math.min(...found)).toBeGreaterThanOrEqual(0);
    },
  );
});
