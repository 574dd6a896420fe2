import { expect } from "vitest";
import type { PredictionType } from "../../../../../island-agent/runtimes/diffusers/samplers/prediction.ts";
import type { Sampler, Training } from "../../../../../island-agent/runtimes/diffusers/samplers/sampler.ts";
import type { TimestepSpacing } from "../../../../../island-agent/runtimes/diffusers/samplers/timesteps.ts";
import { exactShares } from "./exact-shares.ts";

/** Of Stable Diffusion, by exact arithmetic. */
export const SHARES = exactShares("scaled_linear", "0.00085", "0.012", 1_000);
/** A original of five latents, and the noise upon it. */
export const PICTURE = [0.5, -1.25, 2, 0, -0.1];
export const NOISE = [1, -0.5, 0.25, -2, 0.7];

export function makeTraining(overrides: Partial<Training> & { spacing?: TimestepSpacing } = {}): Training {
  const { spacing = "leading", ...others } = overrides;
  const grid = { spacing, offset: 1, count: 1_000 };
  return { alphasCumprod: Float64Array.from(SHARES), grid, prediction: "epsilon", clip: null, ...others };
}

/** `original` with `noise` upon it, at a time of training. */
export function noised(time: number, original = PICTURE, noise = NOISE): number[] {
  const alphaCumprod = SHARES[time]!;
  return original.map((value, i) => Math.sqrt(alphaCumprod) * value + Math.sqrt(1 - alphaCumprod) * noise[i]!);
}

/** What a network says that knows original and noise. Salimans and Ho 2022: v = alpha * noise - sigma * original. */
export function truthOf(prediction: PredictionType, time: number): Float32Array {
  const alphaCumprod = SHARES[time]!;
  const truths = {
    epsilon: NOISE,
    sample: PICTURE,
    v_prediction: PICTURE.map((value, i) => Math.sqrt(alphaCumprod) * NOISE[i]! - Math.sqrt(1 - alphaCumprod) * value),
  };
  return Float32Array.from(truths[prediction]);
}

/** All steps of a sampler, from `start`. `say`: the network. */
export function sample(
  sampler: Sampler,
  start: number[],
  say: (input: Float32Array, time: number) => Float32Array,
): number[] {
  let latents: Float32Array = Float32Array.from(start);
  for (const [step, time] of sampler.timesteps.entries()) {
    const modelOutput = say(sampler.scaleModelInput(latents, step), time);
    latents = sampler.advance(latents, modelOutput, step, () => {
      throw new Error("this sampler asks for no fresh noise");
    });
  }
  return [...latents];
}

/**
 * What the ideal network says where the images' latents are normal, of mean 0 and `deviation`: the mean of the noise that a latent
 * bears, given the latent (both are normal). The exact flow then scales every latent by what its deviation shrinks to.
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
