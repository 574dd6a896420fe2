import { describe, expect, it } from "vitest";
import { DdimSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/ddim-sampler.ts";
import { PREDICTION_TYPES } from "../../../../../island-agent/runtimes/diffusers/samplers/prediction.ts";
import { closeTo, idealNoise, makeTraining, noised, PICTURE, sample, SHARES, truthOf } from "./sampler-support.ts";

describe("DdimSampler", () => {
  it("uses Stable Diffusion's 50 timesteps, 981 to 1", () => {
    const { timesteps, initNoiseSigma } = new DdimSampler(makeTraining(), 50, true);
    expect([timesteps[0], timesteps[1], timesteps.at(-1), timesteps.length]).toEqual([981, 961, 1, 50]);
    expect(initNoiseSigma).toBe(1);
  });

  it.each(PREDICTION_TYPES)(
    "returns the original with less noise after each step if the network predicts %s exactly",
    (prediction) => {
      const sampler = new DdimSampler(makeTraining({ prediction }), 10, true);
      let seen = 0;
      const end = sample(sampler, noised(901), (input, time) => {
        expect([...input]).toEqual(closeTo(noised(time)));
        seen++;
        return truthOf(prediction, time);
      });
      expect(seen).toBe(10);
      expect(end).toEqual(closeTo(PICTURE));
    },
  );

  it("keeps the noise of the first training timestep if alpha is not set to one", () => {
    const end = sample(new DdimSampler(makeTraining(), 10, false), noised(901), (_, time) => truthOf("epsilon", time));
    expect(end).toEqual(closeTo(noised(0)));
  });

  it("rounds timesteps between two of training", () => {
    const { timesteps } = new DdimSampler(makeTraining({ spacing: "linspace" }), 5, true);
    expect(timesteps).toEqual([999, 749, 500, 250, 0]);
  });

  it("converges to the exact flow of normal latents, so that twice the steps halve the error", () => {
    const errorOf = (steps: number): number => {
      const [end] = sample(new DdimSampler(makeTraining({ spacing: "trailing" }), steps, true), [1], idealNoise(0.5));
      const initNoiseSigma = Math.sqrt(SHARES[999]! * 0.25 + 1 - SHARES[999]!);
      return Math.abs(end! - 0.5 / initNoiseSigma);
    };
    expect(errorOf(500)).toBeLessThan(0.01);
    expect(errorOf(125) / errorOf(250)).toBeCloseTo(2, 0);
  });

  it("clips only the predicted original", () => {
    const sampler = new DdimSampler(makeTraining({ clip: 1 }), 10, true);
    const end = sample(sampler, noised(901), (_, time) => truthOf("epsilon", time));
    expect(end[2]).toBe(1);
    expect(end[4]).toBeCloseTo(-0.1, 2);
  });
});
