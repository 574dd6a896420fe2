import { describe, expect, it } from "vitest";
import { EulerSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/euler-sampler.ts";
import { PREDICTION_TYPES } from "../../../../../island-agent/runtimes/diffusers/samplers/prediction.ts";
import {
  closeTo,
  idealNoise,
  makeTraining,
  NOISE,
  noised,
  PICTURE,
  sample,
  SHARES,
  truthOf,
} from "./sampler-support.ts";

const sigmaAt = (time: number): number => Math.sqrt((1 - SHARES[time]!) / SHARES[time]!);

describe("EulerSampler", () => {
  it("starts at Stable Diffusion's noise level of 14.6146 and ends at 0", () => {
    const sampler = new EulerSampler(makeTraining({ spacing: "linspace" }), 30);
    expect(sampler.initNoiseSigma).toBeCloseTo(14.6146, 4);
    expect(sampler.sigmas).toHaveLength(31);
    expect(sampler.sigmas[29]).toBeCloseTo(0.0292, 4);
    expect(sampler.sigmas[30]).toBe(0);
  });

  it("interpolates noise levels between two training timesteps", () => {
    const sampler = new EulerSampler(makeTraining({ spacing: "linspace" }), 5);
    expect(sampler.timesteps[1]).toBe(749.25);
    expect(sampler.sigmas[1]).toBeCloseTo(0.75 * sigmaAt(749) + 0.25 * sigmaAt(750), 9);
  });

  it("includes the original's deviation in its start if the noisiest timesteps are skipped", () => {
    const sampler = new EulerSampler(makeTraining(), 50);
    expect(sampler.timesteps[0]).toBe(981);
    expect(sampler.initNoiseSigma).toBeCloseTo(Math.sqrt(sigmaAt(981) ** 2 + 1), 9);
  });

  it.each(PREDICTION_TYPES)(
    "stays on the line from noise to original if the network predicts %s exactly",
    (prediction) => {
      const sampler = new EulerSampler(makeTraining({ prediction }), 10);
      const start = PICTURE.map((value, i) => value + sigmaAt(901) * NOISE[i]!);
      const times: number[] = [];
      const end = sample(sampler, start, (input, time) => {
        times.push(time);
        expect([...input]).toEqual(closeTo(noised(time)));
        return truthOf(prediction, time);
      });
      expect(times).toEqual([901, 801, 701, 601, 501, 401, 301, 201, 101, 1]);
      expect(end).toEqual(closeTo(PICTURE));
    },
  );

  it('keeps the smallest training noise with final sigma "sigma_min"', () => {
    const sampler = new EulerSampler(makeTraining(), 10, "sigma_min");
    const start = PICTURE.map((value, i) => value + sigmaAt(901) * NOISE[i]!);
    const end = sample(sampler, start, (_, time) => truthOf("epsilon", time));
    expect(end).toEqual(closeTo(PICTURE.map((value, i) => value + sigmaAt(0) * NOISE[i]!)));
  });

  it("converges to the exact flow of normal latents, so that twice the steps halve the error", () => {
    const errorOf = (steps: number): number => {
      const sampler = new EulerSampler(makeTraining({ spacing: "trailing" }), steps);
      const [end] = sample(sampler, [sampler.initNoiseSigma], idealNoise(0.5));
      const exact = (sampler.initNoiseSigma * 0.5) / Math.hypot(0.5, sampler.initNoiseSigma);
      return Math.abs(end! - exact);
    };
    expect(errorOf(500)).toBeLessThan(0.01);
    expect(errorOf(125) / errorOf(250)).toBeCloseTo(2, 0);
  });

  it("clips only the predicted original", () => {
    const sampler = new EulerSampler(makeTraining({ clip: 1 }), 10);
    const start = PICTURE.map((value, i) => value + sigmaAt(901) * NOISE[i]!);
    const end = sample(sampler, start, (_, time) => truthOf("epsilon", time));
    expect([end[2], end[4]]).toEqual(closeTo([1, -0.1], 2));
  });
});
