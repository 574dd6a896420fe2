import { clamp, type Sampler, type Training } from "./sampler.ts";
import { splitLatent } from "./prediction.ts";
import { timestepsOf } from "./timesteps.ts";

/** Noise that the last step leaves: none, or the noise of training's first timestep. */
export const FINAL_SIGMAS = ["zero", "sigma_min"] as const;
type FinalSigma = (typeof FINAL_SIGMAS)[number];

/**
 * Euler's method on the probability-flow equation dx/dsigma = (x - original) / sigma. Source: Karras et al. 2022,
 * algorithm 1, without its second-order correction and without churn. Latents are `original + sigma * epsilon`.
 */
export class EulerSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly initNoiseSigma: number;
  /** Noise level at each step, and after the last step. */
  readonly sigmas: readonly number[];
  readonly #training: Training;

  constructor(training: Training, steps: number, final: FinalSigma = "zero") {
    const { alphasCumprod, grid } = training;
    this.#training = training;
    this.timesteps = timestepsOf(grid, steps);
    this.sigmas = [
      ...this.timesteps.map((time) => sigmaAt(alphasCumprod, time)),
      final === "zero" ? 0 : sigmaAt(alphasCumprod, 0),
    ];
    const [most = 0] = this.sigmas;
    // `leading` omits the noisiest timesteps, and training's latents at its first one are noise plus some original.
    this.initNoiseSigma = grid.spacing === "leading" ? Math.hypot(most, 1) : most;
  }

  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array {
    const sigma = this.#sigma(step);
    return original.map((value, i) => value + sigma * (noise[i] ?? NaN));
  }

  scaleModelInput(latents: Float32Array, step: number): Float32Array {
    const scale = 1 / Math.hypot(this.#sigma(step), 1);
    return latents.map((latent) => latent * scale);
  }

  advance(latents: Float32Array, modelOutput: Float32Array, step: number): Float32Array {
    const { prediction, clip } = this.#training;
    const [sigma, next] = [this.#sigma(step), this.#sigma(step + 1)];
    const signal = 1 / Math.hypot(sigma, 1);
    const noise = sigma * signal;
    return latents.map((latent, i) => {
      const apart = splitLatent(prediction, {
        latent: latent * signal,
        modelOutput: modelOutput[i] ?? NaN,
        signal,
        noise,
      });
      const original = clamp(apart.original, clip);
      return latent + ((latent - original) / sigma) * (next - sigma);
    });
  }

  #sigma(step: number): number {
    return this.sigmas[step] ?? NaN;
  }
}

/**
 * Returns the noise level relative to an original of weight 1. Sigma is interpolated between two timesteps of training,
 * as in diffusers.
 */
function sigmaAt(alphasCumprod: Float64Array, time: number): number {
  const [before, after] = [Math.floor(time), Math.ceil(time)].map((whole) => {
    const alphaCumprod = alphasCumprod[whole] ?? NaN;
    return Math.sqrt((1 - alphaCumprod) / alphaCumprod);
  }) as [number, number];
  return before + (after - before) * (time - Math.floor(time));
}
