import { expect } from "vitest";
import type { PredictionType } from "../../../../../island-agent/runtimes/diffusers/samplers/prediction.ts";
import type { Sampler, Training } from "../../../../../island-agent/runtimes/diffusers/samplers/sampler.ts";
import type { TimestepSpacing } from "../../../../../island-agent/runtimes/diffusers/samplers/timesteps.ts";
import { exactShares } from "./exact-shares.ts";

/** Cumulative alphas of Stable Diffusion, computed with exact arithmetic. */
export const SHARES = exactShares("scaled_linear", "0.00085", "0.012", 1_000);
/** An original of five latents, and the noise added to it. */
export const PICTURE = [0.5, -1.25, 2, 0, -0.1];
export const NOISE = [1, -0.5, 0.25, -2, 0.7];

export function makeTraining(overrides: Partial<Training> & { spacing?: TimestepSpacing } = {}): Training {
  const { spacing = "leading", ...others } = overrides;
  const grid = { spacing, offset: 1, count: 1_000 };
  return { alphasCumprod: Float64Array.from(SHARES), grid, prediction: "epsilon", clip: null, ...others };
}

/** Returns `original` with `noise` added, at a timestep of training. */
export function noised(time: number, original = PICTURE, noise = NOISE): number[] {
  const alphaCumprod = SHARES[time]!;
  return original.map((value, i) => Math.sqrt(alphaCumprod) * value + Math.sqrt(1 - alphaCumprod) * noise[i]!);
}

/** Returns the prediction of a perfect network. Source: Salimans and Ho 2022, v = alpha * noise - sigma * original. */
export function truthOf(prediction: PredictionType, time: number): Float32Array {
  const alphaCumprod = SHARES[time]!;
  const truths = {
    epsilon: NOISE,
    sample: PICTURE,
    v_prediction: PICTURE.map((value, i) => Math.sqrt(alphaCumprod) * NOISE[i]! - Math.sqrt(1 - alphaCumprod) * value),
  };
  return Float32Array.from(truths[prediction]);
}

/** Runs all steps of a sampler from `start`. */
export function sample(
  sampler: Sampler,
  start: number[],
  predict: (input: Float32Array, time: number) => Float32Array,
): number[] {
  let latents: Float32Array = Float32Array.from(start);
  for (const [step, time] of sampler.timesteps.entries()) {
    const modelOutput = predict(sampler.scaleModelInput(latents, step), time);
    latents = sampler.advance(latents, modelOutput, step, () => {
      throw new Error("this sampler uses no fresh noise");
    });
  }
  return [...latents];
}

/**
 * Returns the prediction of an ideal network for images with normal latents of mean 0 and `deviation`. It is the mean
 * of the noise in a latent, given the latent (both are normal). The exact flow scales each latent by the ratio of its
 * final and first deviation.
 */
export function idealNoise(deviation: number): (input: Float32Array, time: number) => Float32Array {
  return (input, time) => {
    const alphaCumprod = SHARES[Math.round(time)]!;
    const variance = alphaCumprod * deviation ** 2 + (1 - alphaCumprod);
    return input.map((latent) => (Math.sqrt(1 - alphaCumprod) * latent) / variance);
  };
}

export function closeTo(numbers: Iterable<number>, digits = 5): unknown[] {
  return Array.from(numbers, (number) => expect.closeTo(number, digits));
}
