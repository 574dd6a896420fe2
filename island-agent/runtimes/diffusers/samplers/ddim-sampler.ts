import { splitLatent } from "./prediction.ts";
import { clamp, mixNoise, type Sampler, type Training } from "./sampler.ts";
import { timestepsOf } from "./timesteps.ts";

/**
 * DDIM without added noise. Source: Song et al. 2020, equation 12 with sigma 0, over the timesteps of the run (the
 * paper's sub-sequence tau).
 */
export class DdimSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly initNoiseSigma = 1;
  readonly #training: Training;
  /** Values at each step, and after the last step. */
  readonly #alphasCumprod: readonly number[];

  /**
   * @param isFinalClean true if the last step leaves no noise; otherwise it leaves the noise of training's first
   * timestep.
   */
  constructor(training: Training, steps: number, isFinalClean: boolean) {
    const { alphasCumprod, grid } = training;
    this.#training = training;
    this.timesteps = timestepsOf(grid, steps).map(Math.round);
    const final = isFinalClean ? 1 : (alphasCumprod[0] ?? NaN);
    this.#alphasCumprod = [...this.timesteps.map((time) => alphasCumprod[time] ?? NaN), final];
  }

  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array {
    return mixNoise(original, noise, this.#alphasCumprod[step] ?? NaN);
  }

  scaleModelInput(latents: Float32Array): Float32Array {
    return latents;
  }

  advance(latents: Float32Array, modelOutput: Float32Array, step: number): Float32Array {
    const { prediction, clip } = this.#training;
    const [alphaCumprod = NaN, nextAlphaCumprod = NaN] = this.#alphasCumprod.slice(step, step + 2);
    const [signal, noise] = [Math.sqrt(alphaCumprod), Math.sqrt(1 - alphaCumprod)];
    const [nextSignal, nextNoise] = [Math.sqrt(nextAlphaCumprod), Math.sqrt(1 - nextAlphaCumprod)];
    return latents.map((latent, i) => {
      const { original, epsilon } = splitLatent(prediction, {
        latent,
        modelOutput: modelOutput[i] ?? NaN,
        signal,
        noise,
      });
      return nextSignal * clamp(original, clip) + nextNoise * epsilon;
    });
  }
}
