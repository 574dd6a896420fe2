import type { PredictionType } from "./prediction.ts";
import type { TimestepGrid } from "./timesteps.ts";

/** What all samplers need to know of how a network was trained. */
export interface Training {
  /** Share of the original in the latents at each time of training (`signalShares`). */
  readonly shares: Float64Array;
  readonly grid: TimestepGrid;
  readonly prediction: PredictionType;
  /** Most that a latent of the finished original may be; null: anything. */
  readonly clip: number | null;
}

/** A way from noise to a original in a number of steps. */
export interface Sampler {
  /** Times of the steps, as the network is told them, the noisiest first. May be fractions. */
  readonly timesteps: readonly number[];
  /** Standard deviation of the noise that the first step begins with. */
  readonly startDeviation: number;
  /** The latents of a step in the scale that the network was trained with. */
  networkInput(latents: Float32Array, step: number): Float32Array;
  /**
   * The latents of the next step; after the last one, the original's.
   * @param said what the network says of `networkInput`, as long as `latents`.
   * @param freshNoise as many normal numbers as there are latents; called at most once.
   */
  advance(latents: Float32Array, said: Float32Array, step: number, freshNoise: () => Float32Array): Float32Array;
}

/** Clamps to ±`clip`. */
export function clamp(value: number, clip: number | null): number {
  return clip === null ? value : Math.min(clip, Math.max(-clip, value));
}
