import { z } from "zod";

/** Source: spec §2. */
export const RUNTIME_TYPES = ["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"] as const;
export type RuntimeType = (typeof RUNTIME_TYPES)[number];

/** Source: spec §4. */
export const CARGO_CATEGORIES = ["llm", "image", "audio", "vision", "text", "utility"] as const;
export type CargoCategory = (typeof CARGO_CATEGORIES)[number];

/** A model to fetch. `url`: `hf:owner/repo[:file]`, `https:…`, or a path that the coordinator itself serves (`/models/…`). */
export const modelRefSchema = z.object({
  url: z.string().min(1).max(2_000),
  /** Lower-case hex; null when the publisher gives none. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  sizeBytes: z.number().int().positive().nullable(),
});
export type ModelRef = z.infer<typeof modelRefSchema>;

/** What an Island must know of a Cargo to run it; travels in `assign` and `preload`. */
export const cargoManifestSchema = z.object({
  slug: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/),
  runtimeType: z.enum(RUNTIME_TYPES),
  onnxTaskType: z.string().max(100).nullable(),
  model: modelRefSchema.nullable(),
  requiredRamBytes: z.number().int().nonnegative(),
  requiredVramBytes: z.number().int().nonnegative(),
  /** Tokens of context per concurrent job; null where the runtime has no such thing. */
  contextTokens: z.number().int().positive().nullable(),
});
export type CargoManifest = z.infer<typeof cargoManifestSchema>;

/** A catalog entry. Money in micro-credits (1/1,000,000 credit), times in ms. */
export interface Cargo extends CargoManifest {
  readonly name: string;
  readonly description: string;
  readonly category: CargoCategory;
  readonly licence: string;
  readonly priceMicro: number;
  /** Longest run of one attempt, from `started`. */
  readonly runLimitMs: number;
  /** Longest wait for a start, from submission. */
  readonly waitLimitMs: number;
  /** JSON Schema (2020-12) of a job's input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly exampleInput: Readonly<Record<string, unknown>>;
  /** Takes chat input and streams text: it may be named as `model` of a chat completion. */
  readonly isChat: boolean;
}

/** The part of a Cargo that travels to an Island. */
export function manifestOf(cargo: CargoManifest): CargoManifest {
  const { slug, runtimeType, onnxTaskType, model, requiredRamBytes, requiredVramBytes, contextTokens } = cargo;
  return { slug, runtimeType, onnxTaskType, model, requiredRamBytes, requiredVramBytes, contextTokens };
}

/** Names a model's bytes: its hash where known, else its address. The key of the Islands' stores and of cache reports. */
export function modelKey(model: ModelRef): string {
  return model.sha256 ?? model.url;
}
