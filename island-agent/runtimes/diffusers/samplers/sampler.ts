import type { PredictionType } from "./prediction.ts";
import type { TimestepGrid } from "./timesteps.ts";

/** How the network was trained; all samplers need this. */
export interface Training {
  /** For each timestep of training (`computeAlphasCumprod`). */
  readonly alphasCumprod: Float64Array;
  readonly grid: TimestepGrid;
  readonly prediction: PredictionType;
  /** Limit for the absolute value of predicted originals; null: no limit. */
  readonly clip: number | null;
}

/** Turns noise into the latents of an image in a number of steps. */
export interface Sampler {
  /** The network's timestep input at each step, the noisiest first. May be fractions. */
  readonly timesteps: readonly number[];
  /** Standard deviation of the initial noise. */
  readonly initNoiseSigma: number;
  /** An image's latents with noise upon them, as they are before a step. */
  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array;
  /** Scales the latents of a step to the network's training. */
  scaleModelInput(latents: Float32Array, step: number): Float32Array;
  /**
   * The latents of the next step; after the last step, those of the finished image.
   * @param modelOutput the network's output for `scaleModelInput`, as long as `latents`.
   * @param freshNoise returns normal noise as long as `latents`; called at most once.
   */
  advance(latents: Float32Array, modelOutput: Float32Array, step: number, freshNoise: () => Float32Array): Float32Array;
}

/** Clamps to ±`clip`. */
export function clamp(value: number, clip: number | null): number {
  return clip === null ? value : Math.min(clip, Math.max(-clip, value));
}

/** Latents whose variance is `alphaCumprod` the original's and the rest noise. */
export function mixNoise(original: Float32Array, noise: Float32Array, alphaCumprod: number): Float32Array {
  const [signal, share] = [Math.sqrt(alphaCumprod), Math.sqrt(1 - alphaCumprod)];
  return original.map((value, i) => signal * value + share * (noise[i] ?? NaN));
}
