import { takeApart } from "./prediction.ts";
import { clamp, type Sampler, type Training } from "./sampler.ts";
import { timestepsOf } from "./timesteps.ts";

/**
 * DDIM without fresh noise. Source: Song et al. 2020, equation 12 with sigma 0; the times before and after are those of the steps
 * (the paper's sub-sequence tau).
 */
export class DdimSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly startDeviation = 1;
  readonly #training: Training;
  /** Share of the original at each step, and after the last. */
  readonly #shares: readonly number[];

  /** @param isFinalClean the last step leaves no noise; else that of the first time of training. */
  constructor(training: Training, steps: number, isFinalClean: boolean) {
    const { shares, grid } = training;
    this.#training = training;
    this.timesteps = timestepsOf(grid, steps).map(Math.round);
    const final = isFinalClean ? 1 : (shares[0] ?? NaN);
    this.#shares = [...this.timesteps.map((time) => shares[time] ?? NaN), final];
  }

  networkInput(latents: Float32Array): Float32Array {
    return latents;
  }

  advance(latents: Float32Array, said: Float32Array, step: number): Float32Array {
    const { prediction, clip } = this.#training;
    const [share = NaN, nextShare = NaN] = this.#shares.slice(step, step + 2);
    const [signal, noise] = [Math.sqrt(share), Math.sqrt(1 - share)];
    const [nextSignal, nextNoise] = [Math.sqrt(nextShare), Math.sqrt(1 - nextShare)];
    return latents.map((latent, i) => {
      const { original, epsilon } = takeApart(prediction, { latent, said: said[i] ?? NaN, signal, noise });
      return nextSignal * clamp(original, clip) + nextNoise * epsilon;
    });
  }
}
