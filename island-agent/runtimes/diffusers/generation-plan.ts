import { JobFailure } from "../../../shared/errors.ts";
import type { CellSize, DenoiserContext } from "./denoiser.ts";
import { embedGuidance } from "./guidance.ts";
import { PIXELS_PER_CELL } from "./latent-decoder.ts";
import type { ImageJob } from "./image-input.ts";
import type { ImagePipeline } from "./image-pipeline.ts";

/** Where a job says nothing: as diffusers' pipelines and the shipped Cargos have it. */
const DEFAULT_STEPS = 25;
const DEFAULT_LCM_STEPS = 4;
const DEFAULT_GUIDANCE = 7.5;
const DEFAULT_XL_GUIDANCE = 5;
/** For a network that has guidance embedded. */
const DEFAULT_EMBEDDED_GUIDANCE = 8.5;
/** Eight pixels a cell, and three halvings of the cells in the usual U-Net. */
const SAFE_SIDE = 64;

/** A job with what it leaves to the pipeline. */
export interface GenerationPlan extends DenoiserContext {
  readonly steps: number;
  /** Of guidance. */
  readonly scale: number;
  /** The network is asked without the prompt too. */
  readonly isGuided: boolean;
}

/** @throws {JobFailure} `invalid_input` for a size or a number of steps that the pipeline cannot do. */
export function planGeneration(job: ImageJob, pipeline: ImagePipeline): GenerationPlan {
  const { guidanceWidth } = pipeline;
  const cells = cellsFor(job, pipeline);
  const scale = job.guidance_scale ?? defaultGuidance(pipeline);
  return {
    cells,
    pixels: { width: cells.width * PIXELS_PER_CELL, height: cells.height * PIXELS_PER_CELL },
    steps: stepsFor(job, pipeline),
    scale,
    isGuided: guidanceWidth === null && scale > 1,
    guidance: guidanceWidth === null ? null : embedGuidance(scale, guidanceWidth),
  };
}

/**
 * What the failure of a first step means. U-Nets join what they have halved and doubled again with what they had: an odd number of
 * cells on the way fits nothing, and what ONNX Runtime says of it helps nobody.
 */
export function oddSizeFailure(error: unknown, { width, height }: CellSize): unknown {
  const isOdd = width % SAFE_SIDE !== 0 || height % SAFE_SIDE !== 0;
  if (!isOdd || !(error instanceof JobFailure) || error.code !== "model_invalid") return error;
  const message = `width: this model cannot draw ${width} by ${height} pixels; take multiples of ${SAFE_SIDE}`;
  return new JobFailure("invalid_input", message, { cause: error });
}

function cellsFor({ width, height }: ImageJob, { defaultCells, denoiser }: ImagePipeline): CellSize {
  const cells = {
    width: width === undefined ? defaultCells.width : width / PIXELS_PER_CELL,
    height: height === undefined ? defaultCells.height : height / PIXELS_PER_CELL,
  };
  const fixed = denoiser.fixedCells;
  if (fixed === null || (fixed.width === cells.width && fixed.height === cells.height)) return cells;
  const only = `${fixed.width * PIXELS_PER_CELL} by ${fixed.height * PIXELS_PER_CELL}`;
  throw new JobFailure("invalid_input", `width: this model draws images of ${only} pixels only`);
}

function stepsFor({ steps }: ImageJob, { plan }: ImagePipeline): number {
  const wanted = steps ?? Math.min(plan.name === "lcm" ? DEFAULT_LCM_STEPS : DEFAULT_STEPS, plan.maxSteps);
  if (wanted <= plan.maxSteps) return wanted;
  throw new JobFailure("invalid_input", `steps: this model takes at most ${plan.maxSteps}`);
}

function defaultGuidance({ guidanceWidth, plan, readers }: ImagePipeline): number {
  if (guidanceWidth !== null) return DEFAULT_EMBEDDED_GUIDANCE;
  // Distilled: it draws as a guided network does.
  if (plan.name === "lcm") return 1;
  return readers.length > 1 ? DEFAULT_XL_GUIDANCE : DEFAULT_GUIDANCE;
}
