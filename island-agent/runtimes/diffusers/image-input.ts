import { z } from "zod";
import { JobFailure } from "../../../shared/errors.ts";
import { imageSchema } from "../onnx/media/encoded-file.ts";
import type { RunRequest } from "../runtime.ts";

/** Factor between the sides of latents and images. */
const SIDE_UNIT = 8;
const MIN_SIDE = 64;
const MAX_SIDE = 2_048;
/**
 * Maximum number of pixels, 1536 by 1536. The memory of attention grows with the square of it, and a PNG of noise would
 * fill a frame.
 */
const MAX_PIXELS = 2_359_296;
const MAX_STEPS = 200;
const MAX_PROMPT_CHARS = 10_000;

const side = z.int().min(MIN_SIDE).max(MAX_SIDE).multipleOf(SIDE_UNIT).optional();
const schema = z
  .object({
    prompt: z.string().min(1).max(MAX_PROMPT_CHARS),
    negative_prompt: z.string().max(MAX_PROMPT_CHARS).optional(),
    width: side,
    height: side,
    steps: z.int().min(1).max(MAX_STEPS).optional(),
    guidance_scale: z.number().min(0).max(50).optional(),
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
    /** Image to paint over; PNG, JPEG or WebP in base64. Scaled to cover the generated size. */
    image: imageSchema.optional(),
    /** Area to paint: white, or transparent. The rest of the image is kept. */
    mask_image: imageSchema.optional(),
    /** Share of the steps to run on the image. A value of 1 keeps nothing of the image. */
    strength: z.number().gt(0).max(1).optional(),
    /** Input of ControlNets; see docs/host/runtimes.md. */
    control_image: z
      .undefined("ControlNets are not supported: no exporter writes a U-Net with their inputs as ONNX")
      .optional(),
  })
  .refine(({ image, mask_image: mask }) => image !== undefined || mask === undefined, {
    path: ["mask_image"],
    message: "requires the parameter image",
  })
  .refine(({ image, strength }) => image !== undefined || strength === undefined, {
    path: ["strength"],
    message: "requires the parameter image",
  })
  .refine(({ width = 0, height = 0 }) => width * height <= MAX_PIXELS, {
    path: ["width"],
    message: `width times height must be at most ${MAX_PIXELS} pixels`,
  });

/** A job's input. The pipeline has defaults for missing fields; without a seed, a random one is used. */
export type ImageJob = z.infer<typeof schema>;

/** @throws {JobFailure} `invalid_input`, naming the first wrong field. */
export function readImageInput(input: RunRequest["input"]): ImageJob {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new JobFailure("invalid_input", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`);
}
