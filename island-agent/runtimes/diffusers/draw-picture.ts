import { setImmediate } from "node:timers/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { PIXELS_PER_CELL, type Picture } from "./latent-decoder.ts";
import type { CellSize } from "./denoiser.ts";
import { embedGuidance, guide } from "./guidance.ts";
import type { PictureJob } from "./picture-input.ts";
import type { PicturePipeline } from "./picture-pipeline.ts";
import { seededNoise } from "./seeded-noise.ts";
import { conditionOn, conditionOnNothing, type Conditioning } from "./text-conditioning.ts";

/** Where a job says nothing: as diffusers' pipelines have it, and the shipped Cargos. */
const DEFAULT_STEPS = 25;
const DEFAULT_LCM_STEPS = 4;
const DEFAULT_GUIDANCE = 7.5;
const DEFAULT_XL_GUIDANCE = 5;
/** For a network that has it embedded; one that is merely distilled wants none. */
const DEFAULT_EMBEDDED_GUIDANCE = 8.5;
/** Two of the usual three halvings in a U-Net more than the decoder's. */
const SAFE_SIDE = 64;

/** @throws whatever it likes once `signal` is aborted; the step under way ends first. */
export interface DrawOptions {
  readonly job: PictureJob;
  /** Of `job.seed`, or chosen. */
  readonly seed: number;
  readonly onProgress: (step: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface Drawn {
  readonly picture: Picture;
  /** Tokens that were read, of both prompts. */
  readonly promptTokens: number;
}

/** Draws one picture. @throws {JobFailure}, or `signal.reason` after the step under way. */
export async function drawPicture(
  pipeline: PicturePipeline,
  { job, seed, onProgress, signal }: DrawOptions,
): Promise<Drawn> {
  const { denoiser, decoder, plan, guidanceWidth } = pipeline;
  const cells = cellsFor(job, pipeline);
  const pixels = { width: cells.width * PIXELS_PER_CELL, height: cells.height * PIXELS_PER_CELL };
  const steps = stepsFor(job, pipeline);
  const scale = job.guidance_scale ?? defaultGuidance(pipeline);
  const isGuided = guidanceWidth === null && scale > 1;
  const guidance = guidanceWidth === null ? null : embedGuidance(scale, guidanceWidth);

  const prompt = await conditionOn(job.prompt, pipeline.readers);
  const conditionings = isGuided ? [await conditionWithout(job, prompt, pipeline), prompt] : [prompt];
  const sampler = plan.create(steps);
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
  const picture = await decoder.decode(latents, cells);
  return { picture, promptTokens: conditionings.reduce((sum, { textTokens }) => sum + textTokens, 0) };
}

function cellsFor({ width, height }: PictureJob, { defaultCells, denoiser }: PicturePipeline): CellSize {
  const cells = {
    width: width === undefined ? defaultCells.width : width / PIXELS_PER_CELL,
    height: height === undefined ? defaultCells.height : height / PIXELS_PER_CELL,
  };
  const fixed = denoiser.fixedCells;
  if (fixed === null || (fixed.width === cells.width && fixed.height === cells.height)) return cells;
  const only = `${fixed.width * PIXELS_PER_CELL} by ${fixed.height * PIXELS_PER_CELL}`;
  throw new JobFailure("invalid_input", `width: this model draws pictures of ${only} pixels only`);
}

function stepsFor({ steps }: PictureJob, { plan }: PicturePipeline): number {
  const wanted = steps ?? (plan.name === "lcm" ? DEFAULT_LCM_STEPS : DEFAULT_STEPS);
  if (wanted <= plan.maxSteps) return wanted;
  throw new JobFailure("invalid_input", `steps: this model takes at most ${plan.maxSteps}`);
}

function defaultGuidance({ guidanceWidth, plan, readers }: PicturePipeline): number {
  if (guidanceWidth !== null) return DEFAULT_EMBEDDED_GUIDANCE;
  if (plan.name === "lcm") return 1;
  return readers.length > 1 ? DEFAULT_XL_GUIDANCE : DEFAULT_GUIDANCE;
}

function conditionWithout(
  job: PictureJob,
  prompt: Conditioning,
  pipeline: PicturePipeline,
): Promise<Conditioning> | Conditioning {
  if (job.negative_prompt === undefined && pipeline.isEmptyPromptZero) return conditionOnNothing(prompt);
  return conditionOn(job.negative_prompt ?? "", pipeline.readers);
}

/** U-Nets halve the latents three times and join what they get with what they had: an odd number of cells on the way fits nothing. */
function oddSizeFailure(error: unknown, { width, height }: CellSize): unknown {
  const isOdd = width % SAFE_SIDE !== 0 || height % SAFE_SIDE !== 0;
  if (!isOdd || !(error instanceof JobFailure) || error.code !== "model_invalid") return error;
  const message = `width: this model cannot draw ${width} by ${height} pixels; take multiples of ${SAFE_SIDE}`;
  return new JobFailure("invalid_input", message, { cause: error });
}

function notNumbers(step: number, steps: number): JobFailure {
  const message = `The picture was lost at step ${step} of ${steps}: the model gives numbers that are none (NaN or infinite)`;
  return new JobFailure("model_invalid", message);
}
