import { JobFailure } from "../../../shared/errors.ts";
import type { DenoiserContext } from "./denoiser.ts";
import type { Size } from "./size.ts";
import { embedGuidance } from "./guidance.ts";
import { VAE_SCALE_FACTOR } from "./latent-decoder.ts";
import type { ImageJob } from "./image-input.ts";
import { PATCH_SIDE } from "./packed-latents.ts";
import type { ImagePipeline } from "./image-pipeline.ts";

/** Defaults of diffusers' pipelines and of the shipped Cargos. */
const DEFAULT_STEPS = 25;
const DEFAULT_LCM_STEPS = 4;
const DEFAULT_GUIDANCE = 7.5;
const DEFAULT_XL_GUIDANCE = 5;
const DEFAULT_SD3_GUIDANCE = 7;
const DEFAULT_FLUX_GUIDANCE = 3.5;
const DEFAULT_EMBEDDED_GUIDANCE = 8.5;
/**
 * Multiple of sides that all usual models support. Latents are 8 times smaller, and the U-Net halves them three times.
 */
const SAFE_SIDE = 64;

/** A job with the pipeline's defaults filled in. */
export interface GenerationPlan extends DenoiserContext {
  readonly steps: number;
  readonly scale: number;
  /** Whether classifier-free guidance is used, for which the network also runs without the prompt. */
  readonly isGuided: boolean;
}

/** @throws {JobFailure} `invalid_input` for a size or a number of steps that the pipeline does not support. */
export function planGeneration(job: ImageJob, pipeline: ImagePipeline): GenerationPlan {
  const { guidanceWidth, denoiser } = pipeline;
  const latentSize = latentSizeFor(job, pipeline);
  const scale = job.guidance_scale ?? defaultGuidance(pipeline);
  return {
    latentSize,
    imageSize: { width: latentSize.width * VAE_SCALE_FACTOR, height: latentSize.height * VAE_SCALE_FACTOR },
    steps: stepsFor(job, pipeline),
    scale,
    isGuided: guidanceWidth === null && !denoiser.isPacked && scale > 1,
    guidance: guidanceWidth === null ? null : embedGuidance(scale, guidanceWidth),
  };
}

/**
 * Explains the failure of a first step. U-Nets halve and double the latents and join the results, which fails for sizes
 * that become odd on the way. ONNX Runtime's message does not help a client, so this one names the size.
 */
export function oddSizeFailure(error: unknown, { width, height }: Size): unknown {
  const isOdd = width % SAFE_SIDE !== 0 || height % SAFE_SIDE !== 0;
  if (!isOdd || !(error instanceof JobFailure) || error.code !== "model_invalid") return error;
  const message = `width: this model cannot generate images of ${width} by ${height} pixels. Use multiples of ${SAFE_SIDE}`;
  return new JobFailure("invalid_input", message, { cause: error });
}

function latentSizeFor({ width, height }: ImageJob, { defaultLatentSize, denoiser }: ImagePipeline): Size {
  const latentSize = {
    width: width === undefined ? defaultLatentSize.width : width / VAE_SCALE_FACTOR,
    height: height === undefined ? defaultLatentSize.height : height / VAE_SCALE_FACTOR,
  };
  const isOdd = latentSize.width % PATCH_SIDE !== 0 || latentSize.height % PATCH_SIDE !== 0;
  if (denoiser.hasPooledText && isOdd)
    throw new JobFailure("invalid_input", "width: width and height must be multiples of 16 pixels for this model");
  const fixed = denoiser.fixedLatentSize;
  if (fixed === null || (fixed.width === latentSize.width && fixed.height === latentSize.height)) return latentSize;
  const only = `${fixed.width * VAE_SCALE_FACTOR} by ${fixed.height * VAE_SCALE_FACTOR}`;
  throw new JobFailure("invalid_input", `width: this model generates only images of ${only} pixels`);
}

function stepsFor({ steps }: ImageJob, { plan, denoiser }: ImagePipeline): number {
  // Flux without a guidance scale is the variant distilled to few steps.
  const isFew = plan.name === "lcm" || (denoiser.isPacked && !denoiser.takesScale);
  const wanted = steps ?? Math.min(isFew ? DEFAULT_LCM_STEPS : DEFAULT_STEPS, plan.maxSteps);
  if (wanted <= plan.maxSteps) return wanted;
  throw new JobFailure("invalid_input", `steps: must be at most ${plan.maxSteps} for this model, got ${wanted}`);
}

function defaultGuidance({ guidanceWidth, plan, promptEncoders, denoiser }: ImagePipeline): number {
  if (guidanceWidth !== null) return DEFAULT_EMBEDDED_GUIDANCE;
  if (denoiser.isPacked) return DEFAULT_FLUX_GUIDANCE;
  if (denoiser.hasPooledText) return DEFAULT_SD3_GUIDANCE;
  // A distilled model includes guidance.
  if (plan.name === "lcm") return 1;
  return promptEncoders.length > 1 ? DEFAULT_XL_GUIDANCE : DEFAULT_GUIDANCE;
}
