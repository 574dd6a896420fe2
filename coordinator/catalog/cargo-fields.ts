import { z } from "zod";
import {
  adapterSchema,
  argumentsSchema,
  CARGO_CATEGORIES,
  cargoManifestSchema,
  containerSchema,
  MAX_ADAPTERS,
  MAX_KEEP_ALIVE_MS,
  MAX_PARTS,
  modelFileSchema,
  modelRefSchema,
  RUNTIME_TYPES,
  WEIGHT_FORMATS,
} from "../../shared/cargo.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { CATALOG_ADDRESS } from "../../shared/model-address.ts";
import { TEXT_TASKS } from "../../shared/text-task.ts";
import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { TRUSTS } from "../credits/trust.ts";

/** Time limits of a Cargo whose file sets none. Source: decision 0008. */
export const DEFAULT_RUN_LIMIT_MS = 300_000;
export const DEFAULT_WAIT_LIMIT_MS = 3_600_000;
export const MS_PER_S = 1_000;
const MAX_MB = 16_777_216;
/** Highest output limit that a Cargo can request beyond the setting `max_output_mb`. */
const MAX_OUTPUT_BYTES = 64 * MIB;
const MAX_EXAMPLE_BYTES = 16_384;

const jsonObject = z.record(z.string(), z.unknown());
const exampleSchema = jsonObject
  .refine((example) => Buffer.byteLength(JSON.stringify(example)) <= MAX_EXAMPLE_BYTES, {
    message: `is larger than ${MAX_EXAMPLE_BYTES} bytes as JSON`,
  })
  .meta({ description: `At most ${MAX_EXAMPLE_BYTES} bytes as JSON` });
const megabytes = z.number().int().min(0).max(MAX_MB);
/** Any of the six time limits of a Cargo, in seconds; at most 7 days. */
const limitS = z.number().positive().max(604_800);
const creditsUpTo = (max: number) =>
  z
    .number()
    .min(0)
    .max(max)
    .refine((credits) => Math.round(credits * MICRO_PER_CREDIT) / MICRO_PER_CREDIT === credits, {
      message: "must not have more than 6 decimals",
    });
const MAX_PRICE = 1_000_000;
/** Credits for a million tokens, a megapixel step or a second. The maximum follows from the maximum price of a chat. */
const rateSchema = creditsUpTo(MAX_PRICE * 1_600);
const sizeSchema = z.number().int().positive().max(1_000_000);
/** Prices by size, one form for each kind of Cargo. `cargo-rules.ts` checks that the form suits the Cargo. */
const pricingSchema = z.union(
  [
    z.strictObject({
      prompt: rateSchema,
      completion: rateSchema,
      reference: z.strictObject({ prompt_tokens: sizeSchema, completion_tokens: sizeSchema }).optional(),
    }),
    z.strictObject({ prompt: rateSchema, reference: z.strictObject({ prompt_tokens: sizeSchema }).optional() }),
    z.strictObject({
      megapixel_step: rateSchema,
      reference: z.strictObject({ width: sizeSchema, height: sizeSchema, steps: sizeSchema }).optional(),
    }),
    z.strictObject({
      audio_second: rateSchema,
      reference: z.strictObject({ seconds: z.number().positive().max(604_800) }).optional(),
    }),
  ],
  { error: "must be {prompt, completion}, {prompt}, {megapixel_step} or {audio_second}, with or without reference" },
);

const modelSchema = z.strictObject({
  url: modelRefSchema.shape.url.regex(CATALOG_ADDRESS, {
    message: "must be hf:owner/repo[:file], an https URL, or /models/…",
  }),
  sha256: modelRefSchema.shape.sha256,
  size_bytes: modelRefSchema.shape.sizeBytes,
});

/** A file that is pinned. */
const modelFile = modelSchema.extend({
  sha256: modelFileSchema.shape.sha256,
  size_bytes: modelFileSchema.shape.sizeBytes,
});

const parametersSchema = z
  .string()
  .regex(/^\d+(\.\d+)?[MB]$/, { message: 'must be a number of parameters such as "8B"' });

/** Facts from which the memory requirements of a Cargo are computed, by the rule in catalog/README.md. */
const memorySchema = z.union([
  /** For GGUF models: shape of the model. */
  z.strictObject({
    layers: z.number().int().positive(),
    kv_heads: z.number().int().positive(),
    head_dim: z.number().int().positive(),
    vocabulary: z.number().int().positive(),
    sequences: z.number().int().positive(),
  }),
  /** For other Cargos: the memory that a job needs besides the weights. */
  z.strictObject({ working_mb: z.number().int().positive() }),
]);

/** Schemas of all fields of a Cargo's file, without defaults. docs/reference/cargo-format.md explains each field. */
export const cargoFields = {
  slug: cargoManifestSchema.shape.slug,
  name: z.string().min(1).max(200),
  description: z.string().min(1).max(2_000),
  category: z.enum(CARGO_CATEGORIES),
  runtime_type: z.enum(RUNTIME_TYPES),
  onnx_task_type: z.string().min(1).max(100).nullable(),
  task: z.enum(TEXT_TASKS),
  parts: z.array(modelFile).min(1).max(MAX_PARTS),
  projector: modelFile,
  reads_images: z.boolean(),
  adapters: z
    .array(
      modelSchema.extend({
        sha256: adapterSchema.shape.sha256,
        size_bytes: modelRefSchema.shape.sizeBytes.default(null),
        scale: adapterSchema.shape.scale.default(1),
      }),
    )
    .min(1)
    .max(MAX_ADAPTERS),
  reasoning: z.boolean(),
  tools: z.enum(["template", "grammar"]),
  keep_alive_s: z
    .number()
    .min(0)
    .max(MAX_KEEP_ALIVE_MS / MS_PER_S),
  licence: z.string().min(1).max(200),
  price_per_job: creditsUpTo(MAX_PRICE),
  pricing: pricingSchema,
  required_ram_mb: megabytes,
  required_vram_mb: megabytes,
  model: modelSchema.nullable(),
  weights: z.enum(WEIGHT_FORMATS),
  container: z.strictObject(containerSchema.shape),
  args: argumentsSchema,
  context_tokens: cargoManifestSchema.shape.contextTokens,
  run_limit_s: limitS,
  wait_limit_s: limitS,
  max_output_bytes: z.number().int().min(1).max(MAX_OUTPUT_BYTES),
  accept_limit_s: limitS,
  start_limit_s: limitS,
  first_output_limit_s: limitS,
  silence_limit_s: limitS,
  min_trust: z.enum(TRUSTS),
  parameters: parametersSchema,
  quantization: z.string().min(1).max(50),
  memory: memorySchema,
  input_schema: jsonObject,
  example_input: exampleSchema,
  output_schema: jsonObject,
};

/** Schema of a file in catalog/cargos. `cargo-rules.ts` checks combinations of fields. */
export const cargoFileShape = z.strictObject({
  ...cargoFields,
  onnx_task_type: cargoFields.onnx_task_type.default(null),
  model: cargoFields.model.default(null),
  context_tokens: cargoFields.context_tokens.default(null),
  run_limit_s: limitS.default(DEFAULT_RUN_LIMIT_MS / MS_PER_S),
  wait_limit_s: limitS.default(DEFAULT_WAIT_LIMIT_MS / MS_PER_S),
  accept_limit_s: limitS.optional(),
  start_limit_s: limitS.optional(),
  first_output_limit_s: limitS.optional(),
  silence_limit_s: limitS.optional(),
  min_trust: cargoFields.min_trust.optional(),
  pricing: cargoFields.pricing.optional(),
  weights: cargoFields.weights.optional(),
  container: cargoFields.container.optional(),
  args: cargoFields.args.optional(),
  task: cargoFields.task.optional(),
  parts: cargoFields.parts.optional(),
  projector: cargoFields.projector.optional(),
  reads_images: cargoFields.reads_images.optional(),
  adapters: cargoFields.adapters.optional(),
  reasoning: cargoFields.reasoning.optional(),
  tools: cargoFields.tools.optional(),
  keep_alive_s: cargoFields.keep_alive_s.optional(),
  parameters: cargoFields.parameters.optional(),
  quantization: cargoFields.quantization.optional(),
  memory: cargoFields.memory.optional(),
  max_output_bytes: cargoFields.max_output_bytes.optional(),
  input_schema: cargoFields.input_schema.optional(),
  output_schema: cargoFields.output_schema.optional(),
  /** Endorsements made by `coordinator cargo sign`; only in files of a catalog. */
  signatures: z
    .array(z.strictObject({ public_key: z.string().max(64), signature: z.string().max(100) }))
    .max(8)
    .optional(),
  /** Why the image or model has no pin. The Cargo is disabled until its approval. Only in files of a catalog. */
  unpinned_reason: z.string().min(1).max(500).optional(),
});
export type CargoFile = z.infer<typeof cargoFileShape>;
