import { setImmediate } from "node:timers/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { applyGuidance } from "./guidance.ts";
import type { Image } from "./latent-decoder.ts";
import type { ImageJob } from "./image-input.ts";
import type { ImagePipeline } from "./image-pipeline.ts";
import { oddSizeFailure, planGeneration } from "./generation-plan.ts";
import { beginPainting } from "./painting.ts";
import { seededNoise } from "./seeded-noise.ts";
import { PATCH_SIDE } from "./packed-latents.ts";
import { zeroEmbeddings, type PromptEmbeddings } from "./prompt-embeddings.ts";

export interface GenerateOptions {
  readonly job: ImageJob;
  /** `job.seed`, or a random one. */
  readonly seed: number;
  readonly onProgress: (step: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface GeneratedImage {
  readonly image: Image;
  /** Tokens read of both prompts. */
  readonly promptTokens: number;
}

/** Generates one image. @throws {JobFailure}, or `signal.reason` after the current step. */
export async function generateImage(
  pipeline: ImagePipeline,
  { job, seed, onProgress, signal }: GenerateOptions,
): Promise<GeneratedImage> {
  const { denoiser, decoder } = pipeline;
  const plan = planGeneration(job, pipeline);
  const { latentSize, imageSize, steps, scale, isGuided, guidance } = plan;
  const prompt = await pipeline.encodePrompt(job.prompt);
  const embeddings = isGuided ? [await embedNegativePrompt(job, prompt, pipeline), prompt] : [prompt];
  const tokens = (latentSize.height * latentSize.width) / PATCH_SIDE ** 2;
  const sampler = pipeline.plan.create(steps, { tokens, isEven: denoiser.isPacked });
  const length = denoiser.channels * latentSize.height * latentSize.width;
  const painting = await beginPainting(job, plan, pipeline, sampler, seededNoise(seed, 0, length));
  const { first: firstStep, extraChannels } = painting;
  let { latents } = painting;
  for (const [step, timestep] of sampler.timesteps.entries()) {
    if (step < firstStep) continue;
    // ONNX Runtime blocks the thread while it computes; only here can an abort arrive.
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
    latents = painting.keep(latents, step + 1);
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
