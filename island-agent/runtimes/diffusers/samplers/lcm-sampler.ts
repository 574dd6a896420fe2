import { takeApart } from "./prediction.ts";
import { clamp, type Sampler, type Training } from "./sampler.ts";

/** Standard deviation of the data that the skip and output weights assume. Source: Luo et al. 2023, §4.1; Song et al. 2023. */
const DATA_DEVIATION = 0.5;

export interface LcmOptions {
  /** Steps of the solver that the network was distilled from. Images may take at most as many. */
  readonly distilledSteps: number;
  /** What times are multiplied by in the skip and output weights. */
  readonly timeScale: number;
}

/** Multistep sampling of a latent consistency model. Source: Luo et al. 2023, algorithm 3 (and Song et al. 2023, algorithm 1). */
export class LcmSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly startDeviation = 1;
  readonly #training: Training;
  readonly #timeScale: number;

  constructor(training: Training, steps: number, { distilledSteps, timeScale }: LcmOptions) {
    this.#training = training;
    this.#timeScale = timeScale;
    const gap = Math.floor(training.grid.count / distilledSteps);
    this.timesteps = Array.from({ length: steps }, (_, i) => {
      const skipped = Math.floor((i * distilledSteps) / steps);
      return (distilledSteps - skipped) * gap - 1;
    });
  }

  networkInput(latents: Float32Array): Float32Array {
    return latents;
  }

  advance(latents: Float32Array, said: Float32Array, step: number, freshNoise: () => Float32Array): Float32Array {
    const { prediction, clip, shares } = this.#training;
    const time = this.timesteps[step] ?? NaN;
    const share = shares[time] ?? NaN;
    const [signal, noise] = [Math.sqrt(share), Math.sqrt(1 - share)];
    const scaled = time * this.#timeScale;
    const skip = DATA_DEVIATION ** 2 / (scaled ** 2 + DATA_DEVIATION ** 2);
    const out = scaled / Math.hypot(scaled, DATA_DEVIATION);
    const images = latents.map((latent, i) => {
      const { original } = takeApart(prediction, { latent, said: said[i] ?? NaN, signal, noise });
      return out * clamp(original, clip) + skip * latent;
    });
    const next = this.timesteps[step + 1];
    if (next === undefined) return images;
    const nextShare = shares[next] ?? NaN;
    const fresh = freshNoise();
    const [nextSignal, nextNoise] = [Math.sqrt(nextShare), Math.sqrt(1 - nextShare)];
    return images.map((original, i) => nextSignal * original + nextNoise * (fresh[i] ?? NaN));
  }
}
