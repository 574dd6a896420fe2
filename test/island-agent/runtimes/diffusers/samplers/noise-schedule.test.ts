import { describe, expect, it } from "vitest";
import {
  betasOf,
  computeAlphasCumprod,
} from "../../../../../island-agent/runtimes/diffusers/samplers/noise-schedule.ts";
import { exactShares } from "./exact-shares.ts";

const sigmaOf = (alphaCumprod: number | undefined): number => Math.sqrt((1 - alphaCumprod!) / alphaCumprod!);

describe("computeAlphasCumprod()", () => {
  it.each([
    ["scaled_linear", "0.00085", "0.012"],
    ["linear", "0.0001", "0.02"],
  ] as const)("matches exact arithmetic for %s betas", (curve, start, end) => {
    const alphasCumprod = computeAlphasCumprod(
      betasOf({ curve, start: Number(start), end: Number(end), count: 1_000 }),
    );
    const exact = exactShares(curve, start, end, 1_000);
    expect(alphasCumprod).toHaveLength(1_000);
    for (const [i, alphaCumprod] of alphasCumprod.entries()) expect(alphaCumprod / exact[i]!).toBeCloseTo(1, 11);
  });

  it("returns the published noise levels of Stable Diffusion, 0.0292 and 14.6146", () => {
    const alphasCumprod = computeAlphasCumprod(
      betasOf({ curve: "scaled_linear", start: 0.00085, end: 0.012, count: 1_000 }),
    );
    expect(sigmaOf(alphasCumprod[0])).toBeCloseTo(0.0292, 4);
    expect(sigmaOf(alphasCumprod[999])).toBeCloseTo(14.6146, 4);
  });

  it("ends at the published 4.0e-5 for DDPM's betas", () => {
    const alphasCumprod = computeAlphasCumprod(betasOf({ curve: "linear", start: 0.0001, end: 0.02, count: 1_000 }));
    expect(alphasCumprod[999]! * 1e5).toBeCloseTo(4.036, 3);
  });

  it("multiplies listed betas one by one", () => {
    const alphasCumprod = [...computeAlphasCumprod([0.5, 0.5, 0.2])];
    expect(alphasCumprod).toEqual([0.5, 0.25, 0.2]);
  });
});
