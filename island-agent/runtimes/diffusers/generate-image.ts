import { setImmediate } from "node:timers/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { applyGuidance } from "./guidance.ts";
import type { Image } from "./latent-decoder.ts";
import type { ImageJob } from "./image-input.ts";
import type { ImagePipeline } from "./image-pipeline.ts";
import { oddSizeFailure, planGeneration, type GenerationPlan } from "./generation-plan.ts";
import { seededNoise } from "./seeded-noise.ts";
import { PATCH_SIDE } from "./packed-latents.ts";
import { zeroEmbeddings, type PromptEmbeddings } from "./prompt-embeddings.ts";
import type { Sampler } from "./samplers/sampler.ts";
import { maskImage, readSource, shrinkMask } from "./source-image.ts";

/** Defaults of diffusers' pipelines. A whole image is changed in part; a masked part is fully repainted. */
const DEFAULT_STRENGTH = 0.8;
const DEFAULT_MASKED_STRENGTH = 1;

interface GeneratedImage {
  readonly image: Image;
  /** Number of tokens of both prompts together. */
  readonly promptTokens: number;
}

/** Generates one image. @throws {JobFailure}, or `signal.reason` after the current step. */
export async function generateImage(
  pipeline: ImagePipeline,
  {
    job,
    seed,
    onProgress,
    signal,
  }: {
    readonly job: ImageJob;
    /** `job.seed`, or a random one. */
    readonly seed: number;
    readonly onProgress: (step: number, total: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<GeneratedImage> {
  const { denoiser, decoder } = pipeline;
  const plan = planGeneration(job, pipeline);
  const { latentSize, imageSize, steps, scale, isGuided, guidance } = plan;
  const prompt = await pipeline.encodePrompt(job.prompt);
  const embeddings = isGuided ? [await embedNegativePrompt(job, prompt, pipeline), prompt] : [prompt];
  const tokens = (latentSize.height * latentSize.width) / PATCH_SIDE ** 2;
  const sampler = pipeline.plan.create(steps, { tokens, isEven: denoiser.isPacked });
  const length = denoiser.channels * latentSize.height * latentSize.width;
  const start = await prepareStart(job, plan, pipeline, sampler, seededNoise(seed, 0, length));
  const { first: firstStep, extraChannels } = start;
  let { latents } = start;
  for (const [step, timestep] of sampler.timesteps.entries()) {
    if (step < firstStep) continue;
    // ONNX Runtime blocks the thread during its computation, so an abort can arrive only here.
    await setImmediate();
    signal.throwIfAborted();
    const input = sampler.scaleModelInput(latents, step);
    const [first, second] = await denoiser
      .predict(input, timestep, embeddings, { latentSize, imageSize, guidance, scale, extraChannels })
      .catch((error: unknown) => {
        throw step === firstStep ? oddSizeFailure(error, imageSize) : error;
      });
    if (first === undefined) throw new Error("the denoiser returned nothing");
    const modelOutput = second === undefined ? first : applyGuidance(first, second, scale);
    latents = sampler.advance(latents, modelOutput, step, () => seededNoise(seed, step + 1, length));
    if (!latents.every(Number.isFinite)) throw nonFiniteFailure(step + 1, steps);
    latents = start.keep(latents, step + 1);
    onProgress(step + 1 - firstStep, steps - firstStep);
  }
  await setImmediate();
  signal.throwIfAborted();
  const image = await decoder.decode(latents, latentSize);
  return { image, promptTokens: embeddings.reduce((sum, { textTokens }) => sum + textTokens, 0) };
}

function embedNegativePrompt(
  job: ImageJob,
  prompt: PromptEmbeddings,
  pipeline: ImagePipeline,
): Promise<PromptEmbeddings> | PromptEmbeddings {
  if (job.negative_prompt === undefined && pipeline.isEmptyPromptZero) return zeroEmbeddings(prompt);
  return pipeline.encodePrompt(job.negative_prompt ?? "");
}

function nonFiniteFailure(step: number, steps: number): JobFailure {
  const message = `The image failed at step ${step} of ${steps}: the model returned NaN or infinity`;
  return new JobFailure("model_invalid", message);
}

/** Start of an image: noise, or another image with added noise. */
interface ImageStart {
  readonly first: number;
  readonly latents: Float32Array;
  /** Mask and latents of the kept part, for inpainting networks; null for others. */
  readonly extraChannels: Float32Array | null;
  /** Restores the original outside the mask, with the noise of a step. */
  keep(latents: Float32Array, step: number): Float32Array;
}

/**
 * Prepares the first latents. With a source image, only the last steps run, in proportion to `strength`; the image gets
 * the noise of the first of them (Meng et al. 2021, SDEdit). With a mask, the area outside the mask is restored after
 * each step (Lugmayr et al. 2022, without their resampling) or given to an inpainting network (Rombach et al. 2022,
 * §4.5).
 * @throws {JobFailure}
 */
async function prepareStart(
  job: ImageJob,
  { latentSize, imageSize, steps }: GenerationPlan,
  pipeline: ImagePipeline,
  sampler: Sampler,
  noise: Float32Array,
): Promise<ImageStart> {
  const { isInpainting } = pipeline.denoiser;
  if (isInpainting && (job.image === undefined || job.mask_image === undefined)) {
    throw new JobFailure("invalid_input", "mask_image: this model is for inpainting and requires image and mask_image");
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
  const visible = isInpainting ? await encoder.encode(maskImage(source), latentSize) : null;
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
