import { describe, expect, it } from "vitest";
import { betasOf, signalShares } from "../../../../../island-agent/runtimes/diffusers/samplers/noise-schedule.ts";
import { exactShares } from "./exact-shares.ts";

const sigmaOf = (share: number | undefined): number => Math.sqrt((1 - share!) / share!);

describe("signalShares()", () => {
  it.each([
    ["scaled_linear", "0.00085", "0.012"],
    ["linear", "0.0001", "0.02"],
  ] as const)("of %s betas are those of exact arithmetic", (curve, start, end) => {
    const shares = signalShares(betasOf({ curve, start: Number(start), end: Number(end), count: 1_000 }));
    const exact = exactShares(curve, start, end, 1_000);
    expect(shares).toHaveLength(1_000);
    for (const [i, share] of shares.entries()) expect(share / exact[i]!).toBeCloseTo(1, 11);
  });

  it("of Stable Diffusion end at the published noise levels, 0.0292 and 14.6146", () => {
    const shares = signalShares(betasOf({ curve: "scaled_linear", start: 0.00085, end: 0.012, count: 1_000 }));
    expect(sigmaOf(shares[0])).toBeCloseTo(0.0292, 4);
    expect(sigmaOf(shares[999])).toBeCloseTo(14.6146, 4);
  });

  it("of DDPM's betas end at 4.0e-5, as published", () => {
    const shares = signalShares(betasOf({ curve: "linear", start: 0.0001, end: 0.02, count: 1_000 }));
    expect(shares[999]! * 1e5).toBeCloseTo(4.036, 3);
  });

  it("of betas that are listed multiply one by one", () => {
    const shares = [...signalShares([0.5, 0.5, 0.2])];
    expect(shares).toEqual([0.5, 0.25, 0.2]);
  });
});
