import { z } from "zod";
import { JobFailure } from "../../../../shared/errors.ts";
import { DdimSampler } from "./ddim-sampler.ts";
import { EulerSampler, FINAL_SIGMAS } from "./euler-sampler.ts";
import { type FlowImage, FlowSampler, type FlowShift } from "./flow-sampler.ts";
import { LcmSampler } from "./lcm-sampler.ts";
import { betasOf, computeAlphasCumprod } from "./noise-schedule.ts";
import { PREDICTION_TYPES } from "./prediction.ts";
import type { Sampler, Training } from "./sampler.ts";
import { TIMESTEP_SPACINGS, type TimestepSpacing } from "./timesteps.ts";

export const SCHEDULER_FILE = "scheduler/scheduler_config.json";
type SamplerName = "euler" | "ddim" | "lcm" | "flow";

interface SchedulerClass {
  readonly sampler: SamplerName;
  /** Default of the class. */
  readonly spacing: TimestepSpacing;
  readonly isClipped: boolean;
}

/** Scheduler classes of diffusers. For a class without its own sampler, one that solves the same equation is used. */
const CLASSES: Readonly<Record<string, SchedulerClass>> = {
  EulerDiscreteScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  DDIMScheduler: { sampler: "ddim", spacing: "leading", isClipped: true },
  LCMScheduler: { sampler: "lcm", spacing: "leading", isClipped: false },
  PNDMScheduler: { sampler: "ddim", spacing: "leading", isClipped: false },
  DDPMScheduler: { sampler: "ddim", spacing: "leading", isClipped: true },
  DPMSolverMultistepScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  DPMSolverSinglestepScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  DEISMultistepScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  UniPCMultistepScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  LMSDiscreteScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  HeunDiscreteScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  EulerAncestralDiscreteScheduler: { sampler: "euler", spacing: "linspace", isClipped: false },
  FlowMatchEulerDiscreteScheduler: { sampler: "flow", spacing: "linspace", isClipped: false },
};

const fraction = z.number().gt(0).lt(1);
const absent = z.union([z.literal(false), z.null()]).optional();
/**
 * File of diffusers' `save_pretrained`. Unsupported fields that change the image are rejected; other fields are
 * ignored.
 */
const fileSchema = z.object({
  _class_name: z.string(),
  num_train_timesteps: z.int().min(1).max(100_000).default(1_000),
  beta_start: fraction.default(0.0001),
  beta_end: fraction.default(0.02),
  beta_schedule: z.enum(["linear", "scaled_linear"]).default("linear"),
  trained_betas: z.array(fraction).min(1).nullish(),
  prediction_type: z.enum(PREDICTION_TYPES).default("epsilon"),
  timestep_spacing: z.enum(TIMESTEP_SPACINGS).optional(),
  steps_offset: z.int().min(0).max(1_000).default(0),
  set_alpha_to_one: z.boolean().default(true),
  clip_sample: z.boolean().optional(),
  clip_sample_range: z.number().positive().default(1),
  final_sigmas_type: z.enum(FINAL_SIGMAS).default("zero"),
  original_inference_steps: z.int().min(1).max(1_000).default(50),
  timestep_scaling: z.number().positive().default(10),
  shift: z.number().positive().default(1),
  use_dynamic_shifting: z.boolean().nullish(),
  base_shift: z.number().default(0.5),
  max_shift: z.number().default(1.15),
  base_image_seq_len: z.int().positive().default(256),
  max_image_seq_len: z.int().positive().default(4_096),
  time_shift_type: z.literal("exponential").nullish(),
  shift_terminal: absent,
  invert_sigmas: absent,
  stochastic_sampling: absent,
  use_beta_sigmas: absent,
  use_exponential_sigmas: absent,
  rescale_betas_zero_snr: absent,
  thresholding: absent,
});

export interface SamplerPlan {
  readonly name: SamplerName;
  readonly className: string;
  readonly training: Training;
  readonly maxSteps: number;
  /** @param image used only by `flow`. */
  create(steps: number, image?: FlowImage): Sampler;
}

/** Reads a pipeline's scheduler file. @throws {JobFailure} `model_invalid` naming the field. */
export function readSchedulerConfig(content: unknown): SamplerPlan {
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidConfig(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`);
  }
  const file = parsed.data;
  const kind = Object.hasOwn(CLASSES, file._class_name) ? CLASSES[file._class_name] : undefined;
  if (kind === undefined)
    throw invalidConfig(`${file._class_name} is not supported. Supported classes: ${Object.keys(CLASSES).join(", ")}`);
  const { beta_schedule: curve, beta_start: start, beta_end: end, num_train_timesteps: count } = file;
  const alphasCumprod = computeAlphasCumprod(file.trained_betas ?? betasOf({ curve, start, end, count }));
  const grid = {
    spacing: file.timestep_spacing ?? kind.spacing,
    offset: file.steps_offset,
    count: alphasCumprod.length,
  };
  const clip = (file.clip_sample ?? kind.isClipped) ? file.clip_sample_range : null;
  const training: Training = { alphasCumprod, grid, prediction: file.prediction_type, clip };
  const distilledSteps = Math.min(file.original_inference_steps, alphasCumprod.length);
  const flowShift = flowShiftOf(file);
  return {
    name: kind.sampler,
    className: file._class_name,
    training,
    maxSteps: kind.sampler === "lcm" ? distilledSteps : alphasCumprod.length,
    create(steps, image = { tokens: 0, isEven: false }) {
      switch (kind.sampler) {
        case "euler":
          return new EulerSampler(training, steps, file.final_sigmas_type);
        case "ddim":
          return new DdimSampler(training, steps, file.set_alpha_to_one);
        case "lcm":
          return new LcmSampler(training, steps, { distilledSteps, timeScale: file.timestep_scaling });
        case "flow":
          return new FlowSampler(count, steps, flowShift, image);
        default:
          return kind.sampler satisfies never;
      }
    },
  };
}

function flowShiftOf(file: z.infer<typeof fileSchema>): FlowShift {
  const { shift, base_image_seq_len: baseTokens, max_image_seq_len: maxTokens } = file;
  const { base_shift: baseShift, max_shift: maxShift } = file;
  if (file.use_dynamic_shifting !== true) return { shift, dynamic: null };
  if (maxTokens <= baseTokens) throw invalidConfig("max_image_seq_len: must be greater than base_image_seq_len");
  return { shift, dynamic: { baseShift, maxShift, baseTokens, maxTokens } };
}

function invalidConfig(problem: string): JobFailure {
  return new JobFailure("model_invalid", `${SCHEDULER_FILE}: ${problem}`);
}
