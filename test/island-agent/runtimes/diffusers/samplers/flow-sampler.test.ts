import { describe, expect, it } from "vitest";
import { FlowSampler, type FlowShift } from "../../../../../island-agent/runtimes/diffusers/samplers/flow-sampler.ts";
import { readSchedulerConfig } from "../../../../../island-agent/runtimes/diffusers/samplers/scheduler-config.ts";
import { closeTo, NOISE, PICTURE, sample } from "./sampler-support.ts";

/** Shifts of Stable Diffusion 3 and Flux. */
const SD3: FlowShift = { shift: 3, dynamic: null };
const FLUX: FlowShift = {
  shift: 3,
  dynamic: { baseShift: 0.5, maxShift: 1.15, baseTokens: 256, maxTokens: 4_096 },
};
const MIXED = { tokens: 4_096, isEven: false };
const EVEN = { tokens: 4_096, isEven: true };
const VELOCITY = Float32Array.from(NOISE, (noise, i) => noise - PICTURE[i]!);

describe("FlowSampler", () => {
  it("uses the noise levels of diffusers' scheduler for Stable Diffusion 3", () => {
    const { timesteps, sigmas, initNoiseSigma } = new FlowSampler(1_000, 4, SD3, MIXED);
    expect(timesteps).toEqual(closeTo([1_000, 857.69, 602.15, 8.9286], 2));
    expect(sigmas).toEqual(closeTo([1, 0.85769, 0.60215, 0.0089286, 0], 5));
    expect(initNoiseSigma).toBe(1);
  });

  it("uses even noise levels, shifted by the number of tokens, for Flux", () => {
    const shifted = (mu: number, sigma: number): number => Math.exp(mu) / (Math.exp(mu) + 1 / sigma - 1);
    for (const [tokens, mu] of [
      [4_096, 1.15],
      [256, 0.5],
      [1_024, 0.63],
    ] as const) {
      const { sigmas } = new FlowSampler(1_000, 4, FLUX, { tokens, isEven: true });
      expect(sigmas).toEqual(closeTo([1, shifted(mu, 0.75), shifted(mu, 0.5), shifted(mu, 0.25), 0], 6));
    }
  });

  it("uses even noise levels without a shift for distilled Flux", () => {
    const { timesteps } = new FlowSampler(1_000, 4, { shift: 1, dynamic: null }, EVEN);
    expect(timesteps).toEqual(closeTo([1_000, 750, 500, 250]));
  });

  it.each([
    [SD3, MIXED],
    [FLUX, EVEN],
  ])("stays on the line from noise to original with an exact prediction (%#)", (shift, grid) => {
    const sampler = new FlowSampler(1_000, 10, shift, grid);
    let step = 0;
    const end = sample(sampler, NOISE, (input) => {
      const expected = sampler.noised(Float32Array.from(PICTURE), Float32Array.from(NOISE), step);
      expect([...input]).toEqual(closeTo(expected));
      step += 1;
      return VELOCITY;
    });
    expect([step, end]).toEqual([10, closeTo(PICTURE)]);
  });

  it("is created from a scheduler's file", () => {
    const file = { _class_name: "FlowMatchEulerDiscreteScheduler", num_train_timesteps: 1_000, shift: 3 };
    const plan = readSchedulerConfig(file);
    expect(plan.create(4, MIXED).timesteps).toEqual(new FlowSampler(1_000, 4, SD3, MIXED).timesteps);
    const dynamic = readSchedulerConfig({ ...file, use_dynamic_shifting: true });
    expect(dynamic.create(4, EVEN).timesteps).toEqual(new FlowSampler(1_000, 4, FLUX, EVEN).timesteps);
    expect([plan.name, plan.maxSteps]).toEqual(["flow", 1_000]);
  });
});
