import { z } from "@hono/zod-openapi";
import { CARGO_CATEGORIES, hasFolderModel, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { taskOf } from "../../../shared/text-task.ts";
import { cargoFields } from "../../catalog/cargo-fields.ts";
import type { OwnedCargo } from "../../catalog/cargo-service.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { modelFactShape, presentModelFacts, presentPricing, pricingSchema } from "./model-facts.ts";
import { TRUSTS } from "../../credits/trust.ts";
import { orNull } from "./responses.ts";
import { creditsSchema, presentCredits, presentMegabytes, presentTime, timeSchema } from "./wire-units.ts";

export const cargoSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES),
    onnx_task_type: z.string().nullable(),
    category: z.enum(CARGO_CATEGORIES),
    price_per_job: creditsSchema.describe("Price of a job; with `pricing`, the price of a job of the reference size"),
    pricing: orNull(pricingSchema).describe(
      "Prices by size, and the size that costs `price_per_job`; null if each job costs `price_per_job`",
    ),
    required_vram_mb: z.int().describe("Required graphics memory, in MB of 2^20 bytes"),
    required_ram_mb: z.int().describe("Required memory, in MB of 2^20 bytes"),
    context_tokens: z.int().nullable().describe("Maximum number of tokens in prompt and completion; null if not set"),
    licence: z.string(),
    model_sha256: z
      .string()
      .nullable()
      .describe(
        "SHA-256 of the model's file, in hexadecimal; null if the Cargo has no model, has a folder of files, or names no hash",
      ),
    ...modelFactShape,
    min_trust: z.enum(TRUSTS).describe("Trust that every job of the Cargo has at least"),
    chat: z.boolean().describe("Whether chat completions accept the Cargo as `model`"),
  })
  .openapi("Cargo");

const approvedSchema = z
  .boolean()
  .describe("Whether the operator approved the Cargo. Before that, only its owner can see and run it");
const phaseLimitSchema = z
  .number()
  .nullable()
  .describe("Maximum duration of this phase of an attempt, in seconds; null if the coordinator's setting applies");

export const cargoDetailSchema = cargoSchema
  .extend({
    workload_id: z.int(),
    task: z
      .string()
      .nullable()
      .describe(
        "Name of the task on the model hub, such as `feature-extraction`; null for a chat, or if only the schemas define the task",
      ),
    input_schema: z.record(z.string(), z.unknown()).describe("JSON Schema of a job's input"),
    example_input: z.record(z.string(), z.unknown()),
    output_schema: z
      .record(z.string(), z.unknown())
      .describe("JSON Schema of a job's output; `{}` allows any JSON value"),
    run_limit_s: z.number().describe("Maximum duration of one attempt, in seconds"),
    wait_limit_s: z.number().describe("Maximum time that a job waits for its start, in seconds"),
    accept_limit_s: phaseLimitSchema,
    start_limit_s: phaseLimitSchema,
    first_output_limit_s: phaseLimitSchema,
    silence_limit_s: phaseLimitSchema,
    approved: approvedSchema,
  })
  .openapi("CargoDetail");

/** Fields that a new Cargo must have, without the slug, which never changes. */
const requiredFields = z.object(cargoFields).pick({
  name: true,
  description: true,
  category: true,
  runtime_type: true,
  licence: true,
  required_ram_mb: true,
  required_vram_mb: true,
  example_input: true,
});
/** Fields that may be omitted and whose default is null. */
const nullableFields = z.object(cargoFields).pick({ onnx_task_type: true, model: true, context_tokens: true });
/** The price that every Cargo has. It may be omitted with `pricing`, from which it follows. */
const priceFields = z.object(cargoFields).pick({ price_per_job: true });
/** Limits that may be omitted, each with its own default. */
const limitFields = z.object(cargoFields).pick({ run_limit_s: true, wait_limit_s: true });
const optionalFields = z.object(cargoFields).pick({
  pricing: true,
  accept_limit_s: true,
  start_limit_s: true,
  first_output_limit_s: true,
  silence_limit_s: true,
  min_trust: true,
  weights: true,
  container: true,
  args: true,
  task: true,
  parts: true,
  projector: true,
  reads_images: true,
  adapters: true,
  reasoning: true,
  tools: true,
  keep_alive_s: true,
  parameters: true,
  quantization: true,
  memory: true,
  max_output_bytes: true,
  input_schema: true,
  output_schema: true,
});

const omittableFields = {
  ...nullish(priceFields.shape),
  ...nullableFields.partial().shape,
  ...nullish(limitFields.shape),
  ...nullish(optionalFields.shape),
  enabled: z.boolean().optional(),
};

/** Body that creates a Cargo. The catalog checks combinations of fields: see docs/reference/cargo-format.md. */
export const createCargoSchema = z
  .strictObject({ slug: cargoFields.slug, ...requiredFields.shape, ...omittableFields })
  .openapi("CreateCargo");

export const changeCargoSchema = z
  .strictObject({ ...requiredFields.partial().shape, ...omittableFields })
  .openapi("ChangeCargo");

export const ownedCargoSchema = z
  .object({
    slug: cargoFields.slug,
    ...requiredFields.shape,
    ...priceFields.shape,
    ...nullableFields.shape,
    ...limitFields.shape,
    ...optionalFields.partial().shape,
    enabled: z.boolean(),
    approved: approvedSchema,
    revision: z.int().describe("Version number, starting at 1"),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .openapi("OwnedCargo");

function nullish<S extends z.ZodRawShape>(shape: S) {
  const entries = Object.entries(shape).map(([name, schema]) => [name, z.nullish(schema)]);
  return Object.fromEntries(entries) as { [Name in keyof S]: z.ZodOptional<z.ZodNullable<S[Name]>> };
}

export function presentCargo(cargo: CatalogEntry): z.infer<typeof cargoSchema> {
  return {
    slug: cargo.slug,
    name: cargo.name,
    description: cargo.description,
    runtime_type: cargo.runtimeType,
    onnx_task_type: cargo.onnxTaskType,
    category: cargo.category,
    price_per_job: presentCredits(cargo.priceMicro),
    pricing: presentPricing(cargo),
    required_vram_mb: presentMegabytes(cargo.requiredVramBytes),
    required_ram_mb: presentMegabytes(cargo.requiredRamBytes),
    context_tokens: cargo.contextTokens,
    licence: cargo.licence,
    model_sha256: hasFolderModel(cargo) ? null : (cargo.model?.sha256 ?? null),
    ...presentModelFacts(cargo),
    min_trust: cargo.minTrust ?? "any",
    chat: cargo.isChat,
  };
}

export function presentCargoDetail(cargo: CatalogEntry): z.infer<typeof cargoDetailSchema> {
  return {
    ...presentCargo(cargo),
    workload_id: cargo.workloadId,
    task: taskOf(cargo),
    input_schema: { ...cargo.inputSchema },
    example_input: { ...cargo.exampleInput },
    output_schema: { ...cargo.outputSchema },
    run_limit_s: cargo.runLimitMs / 1_000,
    wait_limit_s: cargo.waitLimitMs / 1_000,
    accept_limit_s: secondsOrNull(cargo.phaseLimitsMs?.accept),
    start_limit_s: secondsOrNull(cargo.phaseLimitsMs?.start),
    first_output_limit_s: secondsOrNull(cargo.phaseLimitsMs?.first_output),
    silence_limit_s: secondsOrNull(cargo.phaseLimitsMs?.silence),
    approved: cargo.privateTo === undefined,
  };
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}

export function presentOwnedCargo(cargo: OwnedCargo): z.infer<typeof ownedCargoSchema> {
  return {
    ...cargo.file,
    enabled: cargo.isEnabled,
    approved: cargo.isApproved,
    revision: cargo.revision,
    created_at: presentTime(cargo.createdAtMs),
    updated_at: presentTime(cargo.updatedAtMs),
  };
}
