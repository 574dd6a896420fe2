import { setImmediate } from "node:timers/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { guide } from "./guidance.ts";
import type { Image } from "./latent-decoder.ts";
import type { ImageJob } from "./image-input.ts";
import type { ImagePipeline } from "./image-pipeline.ts";
import { oddSizeFailure, planGeneration } from "./generation-plan.ts";
import { seededNoise } from "./seeded-noise.ts";
import { conditionOn, conditionOnNothing, type Conditioning } from "./text-conditioning.ts";

export interface GenerateOptions {
  readonly job: ImageJob;
  /** Of `job.seed`, or chosen. */
  readonly seed: number;
  readonly onProgress: (step: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface GeneratedImage {
  readonly image: Image;
  /** Tokens that were read, of both prompts. */
  readonly promptTokens: number;
}

/** Draws one image. @throws {JobFailure}, or `signal.reason` after the step under way. */
export async function generateImage(
  pipeline: ImagePipeline,
  { job, seed, onProgress, signal }: GenerateOptions,
): Promise<GeneratedImage> {
  const { denoiser, decoder } = pipeline;
  const { cells, pixels, steps, scale, isGuided, guidance } = planGeneration(job, pipeline);
  const prompt = await conditionOn(job.prompt, pipeline.readers);
  const conditionings = isGuided ? [await conditionWithout(job, prompt, pipeline), prompt] : [prompt];
  const sampler = pipeline.plan.create(steps);
  const length = denoiser.channels * cells.height * cells.width;
  let latents: Float32Array = seededNoise(seed, 0, length).map((noise) => noise * sampler.startDeviation);
  for (const [step, timestep] of sampler.timesteps.entries()) {
    // ONNX Runtime holds the thread while it computes: here an abort is heard.
    await setImmediate();
    signal.throwIfAborted();
    const input = sampler.networkInput(latents, step);
    const [first, second] = await denoiser
      .predict(input, timestep, conditionings, { cells, pixels, guidance })
      .catch((error: unknown) => {
        throw step === 0 ? oddSizeFailure(error, pixels) : error;
      });
    if (first === undefined) throw new Error("the denoiser said nothing");
    const said = second === undefined ? first : guide(first, second, scale);
    latents = sampler.advance(latents, said, step, () => seededNoise(seed, step + 1, length));
    if (!latents.every(Number.isFinite)) throw notNumbers(step + 1, steps);
    onProgress(step + 1, steps);
  }
  await setImmediate();
  signal.throwIfAborted();
  const image = await decoder.decode(latents, cells);
  return { image, promptTokens: conditionings.reduce((sum, { textTokens }) => sum + textTokens, 0) };
}

function conditionWithout(
  job: ImageJob,
  prompt: Conditioning,
  pipeline: ImagePipeline,
): Promise<Conditioning> | Conditioning {
  if (job.negative_prompt === undefined && pipeline.isEmptyPromptZero) return conditionOnNothing(prompt);
  return conditionOn(job.negative_prompt ?? "", pipeline.readers);
}

function notNumbers(step: number, steps: number): JobFailure {
  const message = `The image was lost at step ${step} of ${steps}: the model gives numbers that are none (NaN or infinite)`;
  return new JobFailure("model_invalid", message);
}
