import { clamp, type Sampler, type Training } from "./sampler.ts";
import { takeApart } from "./prediction.ts";
import { timestepsOf } from "./timesteps.ts";

/** Noise that the last step leaves: none, or that of the first time of training. */
export const FINAL_SIGMAS = ["zero", "sigma_min"] as const;
export type FinalSigma = (typeof FINAL_SIGMAS)[number];

/**
 * Euler's method on the probability-flow equation dx/dsigma = (x - original) / sigma. Source: Karras et al. 2022, algorithm 1, without
 * its second-order correction and without churn. Latents are `original + sigma * epsilon`.
 */
export class EulerSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly startDeviation: number;
  /** Noise at each step, and what is left after the last. */
  readonly sigmas: readonly number[];
  readonly #training: Training;

  constructor(training: Training, steps: number, final: FinalSigma = "zero") {
    const { shares, grid } = training;
    this.#training = training;
    this.timesteps = timestepsOf(grid, steps);
    this.sigmas = [...this.timesteps.map((time) => sigmaAt(shares, time)), final === "zero" ? 0 : sigmaAt(shares, 0)];
    const [most = 0] = this.sigmas;
    // `leading` leaves out the noisiest times: what training had there was noise and some original.
    this.startDeviation = grid.spacing === "leading" ? Math.hypot(most, 1) : most;
  }

  networkInput(latents: Float32Array, step: number): Float32Array {
    const scale = 1 / Math.hypot(this.#sigma(step), 1);
    return latents.map((latent) => latent * scale);
  }

  advance(latents: Float32Array, said: Float32Array, step: number): Float32Array {
    const { prediction, clip } = this.#training;
    const [sigma, next] = [this.#sigma(step), this.#sigma(step + 1)];
    const signal = 1 / Math.hypot(sigma, 1);
    const noise = sigma * signal;
    return latents.map((latent, i) => {
      const apart = takeApart(prediction, { latent: latent * signal, said: said[i] ?? NaN, signal, noise });
      const original = clamp(apart.original, clip);
      return latent + ((latent - original) / sigma) * (next - sigma);
    });
  }

  #sigma(step: number): number {
    return this.sigmas[step] ?? NaN;
  }
}

/** Noise beside a original of weight 1, at a time that may lie between two of training: sigma is interpolated, as in diffusers. */
function sigmaAt(shares: Float64Array, time: number): number {
  const [before, after] = [Math.floor(time), Math.ceil(time)].map((whole) => {
    const share = shares[whole] ?? NaN;
    return Math.sqrt((1 - share) / share);
  }) as [number, number];
  return before + (after - before) * (time - Math.floor(time));
}
