import { splitLatent } from "./prediction.ts";
import { clamp, mixNoise, type Sampler, type Training } from "./sampler.ts";

/** Standard deviation of the data in the skip and output weights. Source: Luo et al. 2023, §4.1; Song et al. 2023. */
const DATA_DEVIATION = 0.5;

/** Sampling of a latent consistency model. Source: Luo et al. 2023, algorithm 3; Song et al. 2023, algorithm 1. */
export class LcmSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly initNoiseSigma = 1;
  readonly #training: Training;
  readonly #timeScale: number;

  constructor(
    training: Training,
    steps: number,
    {
      distilledSteps,
      timeScale,
    }: {
      /**
       * Number of solver steps that the network was distilled from, which is the maximum number of steps of an image.
       */
      readonly distilledSteps: number;
      /** Factor of the timestep in the skip and output weights. */
      readonly timeScale: number;
    },
  ) {
    this.#training = training;
    this.#timeScale = timeScale;
    const gap = Math.floor(training.grid.count / distilledSteps);
    this.timesteps = Array.from({ length: steps }, (_, i) => {
      const skipped = Math.floor((i * distilledSteps) / steps);
      return (distilledSteps - skipped) * gap - 1;
    });
  }

  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array {
    return mixNoise(original, noise, this.#training.alphasCumprod[this.timesteps[step] ?? NaN] ?? NaN);
  }

  scaleModelInput(latents: Float32Array): Float32Array {
    return latents;
  }

  advance(
    latents: Float32Array,
    modelOutput: Float32Array,
    step: number,
    freshNoise: () => Float32Array,
  ): Float32Array {
    const { prediction, clip, alphasCumprod } = this.#training;
    const time = this.timesteps[step] ?? NaN;
    const alphaCumprod = alphasCumprod[time] ?? NaN;
    const [signal, noise] = [Math.sqrt(alphaCumprod), Math.sqrt(1 - alphaCumprod)];
    const scaled = time * this.#timeScale;
    const skip = DATA_DEVIATION ** 2 / (scaled ** 2 + DATA_DEVIATION ** 2);
    const out = scaled / Math.hypot(scaled, DATA_DEVIATION);
    const originals = latents.map((latent, i) => {
      const { original } = splitLatent(prediction, { latent, modelOutput: modelOutput[i] ?? NaN, signal, noise });
      return out * clamp(original, clip) + skip * latent;
    });
    const next = this.timesteps[step + 1];
    if (next === undefined) return originals;
    const nextAlphaCumprod = alphasCumprod[next] ?? NaN;
    const fresh = freshNoise();
    const [nextSignal, nextNoise] = [Math.sqrt(nextAlphaCumprod), Math.sqrt(1 - nextAlphaCumprod)];
    return originals.map((original, i) => nextSignal * original + nextNoise * (fresh[i] ?? NaN));
  }
}
