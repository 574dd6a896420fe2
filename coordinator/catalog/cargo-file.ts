import { z } from "zod";
import {
  argumentsSchema,
  CARGO_CATEGORIES,
  cargoManifestSchema,
  containerSchema,
  modelRefSchema,
  RUNTIME_TYPES,
  WEIGHT_FORMATS,
  type Cargo,
} from "../../shared/cargo.ts";
import type { FieldError } from "../../shared/errors.ts";
import { CATALOG_ADDRESS } from "../../shared/model-address.ts";
import { MICRO_PER_CREDIT, microFromCredits } from "../credits/micro-credits.ts";
import { cargoProblems } from "./cargo-rules.ts";
import { chatInputJsonSchema } from "./chat-input-schema.ts";
import { BYTES_PER_MB, memorySchema } from "./memory-need.ts";
import { outputSchemaOf } from "./output-schemas.ts";

const MS_PER_S = 1_000;
const MAX_MB = 16_777_216;
const MAX_EXAMPLE_BYTES = 16_384;

const jsonObject = z.record(z.string(), z.unknown());
const exampleSchema = jsonObject
  .refine((example) => Buffer.byteLength(JSON.stringify(example)) <= MAX_EXAMPLE_BYTES, {
    message: `is larger than ${MAX_EXAMPLE_BYTES} bytes as JSON`,
  })
  .meta({ description: `At most ${MAX_EXAMPLE_BYTES} bytes as JSON` });
const megabytes = z.number().int().min(0).max(MAX_MB);
const limitS = z.number().positive().max(604_800);
const priceSchema = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((credits) => hasSixDecimals(credits), { message: "must not have more than 6 decimals" });

const modelSchema = z.strictObject({
  url: modelRefSchema.shape.url.regex(CATALOG_ADDRESS, {
    message: "must be hf:owner/repo[:file], an https URL, or /models/…",
  }),
  sha256: modelRefSchema.shape.sha256,
  size_bytes: modelRefSchema.shape.sizeBytes,
});

const parametersSchema = z
  .string()
  .regex(/^\d+(\.\d+)?[MB]$/, { message: 'must be a number of parameters such as "8B"' });

/** Every field of a Cargo as it is written, in the spec's names and units, without defaults. catalog/README.md explains each. */
export const cargoFields = {
  slug: cargoManifestSchema.shape.slug,
  name: z.string().min(1).max(200),
  description: z.string().min(1).max(2_000),
  category: z.enum(CARGO_CATEGORIES),
  runtime_type: z.enum(RUNTIME_TYPES),
  onnx_task_type: z.string().min(1).max(100).nullable(),
  licence: z.string().min(1).max(200),
  price_per_job: priceSchema,
  required_ram_mb: megabytes,
  required_vram_mb: megabytes,
  model: modelSchema.nullable(),
  weights: z.enum(WEIGHT_FORMATS),
  container: z.strictObject(containerSchema.shape),
  args: argumentsSchema,
  context_tokens: cargoManifestSchema.shape.contextTokens,
  run_limit_s: limitS,
  wait_limit_s: limitS,
  parameters: parametersSchema,
  quantization: z.string().min(1).max(50),
  memory: memorySchema,
  input_schema: jsonObject,
  example_input: exampleSchema,
  output_schema: jsonObject,
};

/** One file of catalog/cargos. An owner's Cargo has the same fields (cargo-service.ts). */
export const cargoFileSchema = z
  .strictObject({
    ...cargoFields,
    onnx_task_type: cargoFields.onnx_task_type.default(null),
    model: cargoFields.model.default(null),
    context_tokens: cargoFields.context_tokens.default(null),
    run_limit_s: limitS.default(300),
    wait_limit_s: limitS.default(3_600),
    weights: cargoFields.weights.optional(),
    container: cargoFields.container.optional(),
    args: cargoFields.args.optional(),
    parameters: cargoFields.parameters.optional(),
    quantization: cargoFields.quantization.optional(),
    memory: cargoFields.memory.optional(),
    input_schema: cargoFields.input_schema.optional(),
    output_schema: cargoFields.output_schema.optional(),
  })
  .superRefine((file, context) => {
    for (const { path, message } of cargoProblems(file)) {
      context.addIssue({ code: "custom", path: path.split("."), message });
    }
  });
export type CargoFile = z.infer<typeof cargoFileSchema>;

/** A catalog entry before it has its number. */
export interface CatalogCargo extends Cargo {
  /** As people write it: "8B". */
  readonly parameters?: string;
  readonly quantization?: string;
}

/** The Cargo that a file describes: bytes, ms and micro-credits. GGUF models are chat Cargos. */
export function cargoOf(file: CargoFile): CatalogCargo {
  const isChat = file.runtime_type === "llmcpp";
  return {
    slug: file.slug,
    name: file.name,
    description: file.description,
    category: file.category,
    runtimeType: file.runtime_type,
    onnxTaskType: file.onnx_task_type,
    licence: file.licence,
    priceMicro: microFromCredits(file.price_per_job),
    requiredRamBytes: file.required_ram_mb * BYTES_PER_MB,
    requiredVramBytes: file.required_vram_mb * BYTES_PER_MB,
    model:
      file.model === null ? null : { url: file.model.url, sha256: file.model.sha256, sizeBytes: file.model.size_bytes },
    contextTokens: file.context_tokens,
    runLimitMs: Math.round(file.run_limit_s * MS_PER_S),
    waitLimitMs: Math.round(file.wait_limit_s * MS_PER_S),
    inputSchema: isChat ? chatInputJsonSchema : (file.input_schema ?? {}),
    exampleInput: file.example_input,
    outputSchema: outputSchemaOf(file),
    isChat,
    ...(file.weights === undefined ? {} : { weights: file.weights }),
    ...(file.container === undefined ? {} : { container: file.container }),
    ...(file.args === undefined ? {} : { args: file.args }),
    ...(file.parameters === undefined ? {} : { parameters: file.parameters }),
    ...(file.quantization === undefined ? {} : { quantization: file.quantization }),
  };
}

/** Reads a file's JSON text. Wrong fields come back as errors, all of them. */
export function readCargoFile(text: string): { file: CargoFile } | { errors: FieldError[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return {
      errors: [{ path: "", message: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }],
    };
  }
  return readCargo(json);
}

/** As {@link readCargoFile}, of what was parsed already. */
export function readCargo(json: unknown): { file: CargoFile } | { errors: FieldError[] } {
  const parsed = cargoFileSchema.safeParse(json);
  if (parsed.success) return { file: parsed.data };
  return { errors: parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })) };
}

function hasSixDecimals(credits: number): boolean {
  return Math.round(credits * MICRO_PER_CREDIT) / MICRO_PER_CREDIT === credits;
}
