import { z } from "zod";
import {
  CARGO_CATEGORIES,
  cargoManifestSchema,
  modelRefSchema,
  RUNTIME_TYPES,
  type Cargo,
} from "../../shared/cargo.ts";
import type { FieldError } from "../../shared/errors.ts";
import { MICRO_PER_CREDIT, microFromCredits } from "../credits/micro-credits.ts";
import { chatInputJsonSchema } from "./chat-input-schema.ts";
import { BYTES_PER_MB } from "./memory-need.ts";

const MS_PER_S = 1_000;
const MAX_MB = 16_777_216;

const jsonObject = z.record(z.string(), z.unknown());
const limitS = z.number().positive().max(604_800);
const priceSchema = z
  .number()
  .min(0)
  .max(1_000_000)
  .refine((credits) => hasSixDecimals(credits), { message: "must not have more than 6 decimals" });

/** What a GGUF model's memory figures were worked out from (memory-need.ts). */
const memorySchema = z.strictObject({
  layers: z.number().int().positive(),
  kv_heads: z.number().int().positive(),
  head_dim: z.number().int().positive(),
  vocabulary: z.number().int().positive(),
  sequences: z.number().int().positive(),
});

/** One file of catalog/cargos, in the spec's names and units. catalog/README.md explains every field. */
export const cargoFileSchema = z
  .strictObject({
    slug: cargoManifestSchema.shape.slug,
    name: z.string().min(1).max(200),
    description: z.string().min(1).max(2_000),
    category: z.enum(CARGO_CATEGORIES),
    runtime_type: z.enum(RUNTIME_TYPES),
    onnx_task_type: z.string().min(1).max(100).nullable().default(null),
    licence: z.string().min(1).max(200),
    price_per_job: priceSchema,
    required_ram_mb: z.number().int().min(0).max(MAX_MB),
    required_vram_mb: z.number().int().min(0).max(MAX_MB),
    model: z
      .strictObject({
        url: modelRefSchema.shape.url.regex(/^(hf:|https:\/\/|\/models\/)\S+$/, {
          message: "must be hf:owner/repo[:file], an https URL, or /models/…",
        }),
        sha256: modelRefSchema.shape.sha256,
        size_bytes: modelRefSchema.shape.sizeBytes,
      })
      .nullable()
      .default(null),
    context_tokens: cargoManifestSchema.shape.contextTokens.default(null),
    run_limit_s: limitS.default(300),
    wait_limit_s: limitS.default(3_600),
    parameters: z
      .string()
      .regex(/^\d+(\.\d+)?[MB]$/, { message: 'must be a number of parameters such as "8B"' })
      .optional(),
    quantization: z.string().min(1).max(50).optional(),
    memory: memorySchema.optional(),
    input_schema: jsonObject.optional(),
    example_input: jsonObject,
  })
  .superRefine((file, context) => {
    const report = (field: string, message: string): void => {
      context.addIssue({ code: "custom", path: [field], message });
    };
    const isChat = file.runtime_type === "llmcpp";
    if (file.onnx_task_type !== null && file.runtime_type !== "onnx")
      report("onnx_task_type", "is for onnx Cargos only");
    if (isChat && file.model === null) report("model", "is needed by llmcpp Cargos");
    if (isChat && file.context_tokens === null) report("context_tokens", "is needed by llmcpp Cargos");
    if (isChat && file.input_schema !== undefined) report("input_schema", "is that of chat for llmcpp Cargos");
    if (!isChat && file.input_schema === undefined) report("input_schema", "is needed by all but llmcpp Cargos");
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
    isChat,
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
  const parsed = cargoFileSchema.safeParse(json);
  if (parsed.success) return { file: parsed.data };
  return { errors: parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })) };
}

function hasSixDecimals(credits: number): boolean {
  return Math.round(credits * MICRO_PER_CREDIT) / MICRO_PER_CREDIT === credits;
}
