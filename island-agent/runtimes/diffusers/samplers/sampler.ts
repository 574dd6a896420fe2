import type { PredictionType } from "./prediction.ts";
import type { TimestepGrid } from "./timesteps.ts";

/** Facts about the network's training, which all samplers use. */
export interface Training {
  /** Value of `computeAlphasCumprod` for each timestep of training. */
  readonly alphasCumprod: Float64Array;
  readonly grid: TimestepGrid;
  readonly prediction: PredictionType;
  /** Limit for the absolute value of predicted originals; null for no limit. */
  readonly clip: number | null;
}

/** Converts noise to the latents of an image in a number of steps. */
export interface Sampler {
  /** Timestep input of the network at each step, the noisiest first; possibly fractions. */
  readonly timesteps: readonly number[];
  /** Standard deviation of the initial noise. */
  readonly initNoiseSigma: number;
  /** Returns an image's latents with the noise that they have before a step. */
  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array;
  /** Scales the latents of a step as in the network's training. */
  scaleModelInput(latents: Float32Array, step: number): Float32Array;
  /**
   * Returns the latents of the next step; after the last step, those of the finished image.
   * @param modelOutput the network's output for `scaleModelInput`, as long as `latents`.
   * @param freshNoise returns normal noise as long as `latents`; called at most once.
   */
  advance(latents: Float32Array, modelOutput: Float32Array, step: number, freshNoise: () => Float32Array): Float32Array;
}

/** Clamps to ±`clip`. */
export function clamp(value: number, clip: number | null): number {
  return clip === null ? value : Math.min(clip, Math.max(-clip, value));
}

/** Returns latents whose variance is `alphaCumprod` of the original; the rest is noise. */
export function mixNoise(original: Float32Array, noise: Float32Array, alphaCumprod: number): Float32Array {
  const [signal, share] = [Math.sqrt(alphaCumprod), Math.sqrt(1 - alphaCumprod)];
  return original.map((value, i) => signal * value + share * (noise[i] ?? NaN));
}
