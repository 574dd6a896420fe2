import { JobFailure } from "../../../shared/errors.ts";
import type { GenerationPlan } from "./generation-plan.ts";
import type { ImageJob } from "./image-input.ts";
import type { ImagePipeline } from "./image-pipeline.ts";
import type { Sampler } from "./samplers/sampler.ts";
import { hidePainted, readSource, shrinkMask } from "./source-image.ts";

/** Defaults of diffusers' pipelines: an image is changed much, a masked part painted anew. */
const DEFAULT_STRENGTH = 0.8;
const DEFAULT_MASKED_STRENGTH = 1;

/** Where an image begins: at noise, or at another image with noise upon it. */
export interface Painting {
  /** Index of the first step. */
  readonly first: number;
  /** Of the first step. */
  readonly latents: Float32Array;
  /** Mask and latents of what is kept, of networks for inpainting; null for others. */
  readonly extraChannels: Float32Array | null;
  /** Puts the original back where nothing is to be painted, at the noise of a step. */
  keep(latents: Float32Array, step: number): Float32Array;
}

/**
 * Prepares the first latents. Of a source image the last steps only are run, as many as `strength` says: the image has the noise of
 * their first (Meng et al. 2021, SDEdit). With a mask, the rest is put back after each step (Lugmayr et al. 2022, without their
 * resampling), or shown to a network that was trained for that (Rombach et al. 2022, §4.5).
 * @throws {JobFailure}
 */
export async function beginPainting(
  job: ImageJob,
  { latentSize, imageSize, steps }: GenerationPlan,
  pipeline: ImagePipeline,
  sampler: Sampler,
  noise: Float32Array,
): Promise<Painting> {
  const { isInpainting } = pipeline.denoiser;
  if (isInpainting && (job.image === undefined || job.mask_image === undefined)) {
    throw new JobFailure("invalid_input", "mask_image: this model paints into an image and needs image and mask_image");
  }
  if (job.image === undefined) {
    const latents = noise.map((value) => value * sampler.initNoiseSigma);
    return { first: 0, latents, extraChannels: null, keep: (now) => now };
  }
  const source = await readSource(job.image, job.mask_image, imageSize);
  const encoder = await pipeline.openEncoder();
  const original = await encoder.encode(source.pixels, latentSize);
  const strength = job.strength ?? (source.mask === null ? DEFAULT_STRENGTH : DEFAULT_MASKED_STRENGTH);
  const first = steps - Math.max(1, Math.min(steps, Math.floor(steps * strength)));
  const mask = source.mask === null ? null : shrinkMask(source.mask, latentSize);
  const visible = isInpainting ? await encoder.encode(hidePainted(source), latentSize) : null;
  return {
    first,
    latents: sampler.noised(original, noise, first),
    extraChannels: visible === null || mask === null ? null : Float32Array.from([...mask, ...visible]),
    keep: (latents, step) => {
      if (mask === null || isInpainting) return latents;
      const kept = step === steps ? original : sampler.noised(original, noise, step);
      return latents.map((value, i) => ((mask[i % mask.length] ?? 0) > 0 ? value : (kept[i] ?? NaN)));
    },
  };
}
