import { z } from "@hono/zod-openapi";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { cargoFields } from "../../catalog/cargo-fields.ts";
import type { OwnedCargo } from "../../catalog/cargo-service.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { creditsSchema, presentCredits, presentMegabytes, presentTime, timeSchema } from "./presenters.ts";

export const cargoSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES),
    onnx_task_type: z.string().nullable(),
    category: z.enum(CARGO_CATEGORIES),
    price_per_job: creditsSchema,
    required_vram_mb: z.int(),
    required_ram_mb: z.int(),
    context_tokens: z.int().nullable(),
    licence: z.string(),
    chat: z.boolean().openapi({ description: "May be the `model` of a chat completion" }),
  })
  .openapi("Cargo");

export const cargoDetailSchema = cargoSchema
  .extend({
    workload_id: z.int(),
    input_schema: z.record(z.string(), z.unknown()).openapi({ description: "JSON Schema of a job's input" }),
    example_input: z.record(z.string(), z.unknown()),
    output_schema: z
      .record(z.string(), z.unknown())
      .openapi({ description: "JSON Schema of a job's output; empty: any JSON value" }),
    run_limit_s: z.number(),
    wait_limit_s: z.number(),
    approved: z.boolean().openapi({ description: "By the operator. Until then only its owner sees and runs it" }),
  })
  .openapi("CargoDetail");

const { slug, name, description, category, runtime_type, licence } = cargoFields;
const { price_per_job, required_ram_mb, required_vram_mb, example_input } = cargoFields;

/** Fields that every Cargo has, beside its slug, which is for good. */
const requiredFields = {
  name,
  description,
  category,
  runtime_type,
  licence,
  price_per_job,
  required_ram_mb,
  required_vram_mb,
  example_input,
};

/** Fields that a Cargo may be without. `null` says so. */
const optionalFields = {
  onnx_task_type: cargoFields.onnx_task_type.optional(),
  model: cargoFields.model.optional(),
  weights: cargoFields.weights.nullish(),
  container: cargoFields.container.nullish(),
  args: cargoFields.args.nullish(),
  context_tokens: cargoFields.context_tokens.optional(),
  run_limit_s: cargoFields.run_limit_s.nullish(),
  wait_limit_s: cargoFields.wait_limit_s.nullish(),
  parameters: cargoFields.parameters.nullish(),
  quantization: cargoFields.quantization.nullish(),
  memory: cargoFields.memory.nullish(),
  input_schema: cargoFields.input_schema.nullish(),
  output_schema: cargoFields.output_schema.nullish(),
  enabled: z.boolean().optional(),
};

/** What goes with what is checked by the service: see catalog/README.md. */
export const createCargoSchema = z.strictObject({ slug, ...requiredFields, ...optionalFields }).openapi("CreateCargo");

export const changeCargoSchema = z
  .strictObject({ ...z.object(requiredFields).partial().shape, ...optionalFields })
  .openapi("ChangeCargo");

/** A Cargo as its owner wrote it, and what has become of it. */
export const ownedCargoSchema = z
  .object({
    slug,
    ...requiredFields,
    onnx_task_type: cargoFields.onnx_task_type,
    model: cargoFields.model,
    weights: cargoFields.weights.optional(),
    container: cargoFields.container.optional(),
    args: cargoFields.args.optional(),
    context_tokens: cargoFields.context_tokens,
    run_limit_s: cargoFields.run_limit_s,
    wait_limit_s: cargoFields.wait_limit_s,
    parameters: cargoFields.parameters.optional(),
    quantization: cargoFields.quantization.optional(),
    memory: cargoFields.memory.optional(),
    input_schema: cargoFields.input_schema.optional(),
    output_schema: cargoFields.output_schema.optional(),
    enabled: z.boolean(),
    approved: z.boolean().openapi({ description: "By the operator. Until then only you see and run it" }),
    revision: z.int().openapi({ description: "Counts the changes" }),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .openapi("OwnedCargo");

export function presentCargo(cargo: CatalogEntry): z.infer<typeof cargoSchema> {
  return {
    slug: cargo.slug,
    name: cargo.name,
    description: cargo.description,
    runtime_type: cargo.runtimeType,
    onnx_task_type: cargo.onnxTaskType,
    category: cargo.category,
    price_per_job: presentCredits(cargo.priceMicro),
    required_vram_mb: presentMegabytes(cargo.requiredVramBytes),
    required_ram_mb: presentMegabytes(cargo.requiredRamBytes),
    context_tokens: cargo.contextTokens,
    licence: cargo.licence,
    chat: cargo.isChat,
  };
}

export function presentCargoDetail(cargo: CatalogEntry): z.infer<typeof cargoDetailSchema> {
  return {
    ...presentCargo(cargo),
    workload_id: cargo.workloadId,
    input_schema: { ...cargo.inputSchema },
    example_input: { ...cargo.exampleInput },
    output_schema: { ...cargo.outputSchema },
    run_limit_s: cargo.runLimitMs / 1_000,
    wait_limit_s: cargo.waitLimitMs / 1_000,
    approved: cargo.privateTo === undefined,
  };
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
