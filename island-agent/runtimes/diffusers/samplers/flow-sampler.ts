import { linspace } from "./noise-schedule.ts";
import type { Sampler } from "./sampler.ts";

/** Shift of the noise levels towards noise, where large images need more steps. Source: Esser et al. 2024, §5.3.2. */
export interface FlowShift {
  /** Fixed factor, which is ignored if `dynamic` is set. */
  readonly shift: number;
  /** Shift that depends on the number of the image's tokens; null for a fixed shift. */
  readonly dynamic: {
    readonly baseShift: number;
    readonly maxShift: number;
    readonly baseTokens: number;
    readonly maxTokens: number;
  } | null;
}

/** Properties of an image that determine its noise levels, besides the number of steps. */
export interface FlowImage {
  readonly tokens: number;
  /** True for even levels from 1 to 1/steps, as in Flux; false for the levels of training, as in Stable Diffusion 3. */
  readonly isEven: boolean;
}

/**
 * Euler's method for networks that predict the velocity from image to noise (rectified flow). Latents are `(1 - sigma)
 * * original + sigma * noise`. Source: Liu et al. 2022; Esser et al. 2024, §2; levels as in diffusers'
 * FlowMatchEulerDiscreteScheduler.
 */
export class FlowSampler implements Sampler {
  readonly timesteps: readonly number[];
  readonly initNoiseSigma = 1;
  /** Noise level at each step, and after the last step. */
  readonly sigmas: readonly number[];

  /** @param count number of timesteps of training. */
  constructor(count: number, steps: number, shift: FlowShift, image: FlowImage) {
    const move = shiftFor(shift, image);
    // Levels of training already have a fixed shift, and are shifted once more.
    const least = shift.dynamic === null ? move(1 / count) : 1 / count;
    const levels = linspace(1, image.isEven ? 1 / steps : least, steps).map(move);
    this.sigmas = [...levels, 0];
    this.timesteps = levels.map((sigma) => sigma * count);
  }

  noised(original: Float32Array, noise: Float32Array, step: number): Float32Array {
    const sigma = this.#sigma(step);
    return original.map((value, i) => (1 - sigma) * value + sigma * (noise[i] ?? NaN));
  }

  scaleModelInput(latents: Float32Array): Float32Array {
    return latents;
  }

  advance(latents: Float32Array, modelOutput: Float32Array, step: number): Float32Array {
    const change = this.#sigma(step + 1) - this.#sigma(step);
    return latents.map((latent, i) => latent + change * (modelOutput[i] ?? NaN));
  }

  #sigma(step: number): number {
    return this.sigmas[step] ?? NaN;
  }
}

function shiftFor({ shift, dynamic }: FlowShift, { tokens }: FlowImage): (sigma: number) => number {
  if (dynamic === null) return (sigma) => (shift * sigma) / (1 + (shift - 1) * sigma);
  const { baseShift, maxShift, baseTokens, maxTokens } = dynamic;
  const slope = (maxShift - baseShift) / (maxTokens - baseTokens);
  const factor = Math.exp(baseShift + slope * (tokens - baseTokens));
  return (sigma) => factor / (factor + (1 / sigma - 1));
}
