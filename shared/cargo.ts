import { z } from "zod";
import type { PhaseLimits } from "./attempt-phase.ts";
import { isFolderAddress } from "./model-address.ts";

/** Source: spec §2. */
export const RUNTIME_TYPES = ["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"] as const;
export type RuntimeType = (typeof RUNTIME_TYPES)[number];

/** Source: spec §4. */
export const CARGO_CATEGORIES = ["llm", "image", "audio", "vision", "text", "utility"] as const;
export type CargoCategory = (typeof CARGO_CATEGORIES)[number];

/** Canonical JSON, which is signed (cargo-signature.ts), needs well-formed Unicode. */
const isWellFormed = (text: string): boolean => text.isWellFormed();
const ILL_FORMED = { message: "must be well-formed Unicode" };

/**
 * A model to fetch. `url` follows the grammar in model-address.ts. Of a folder (`hasFolderModel`), `sha256` is that of its
 * `files.json` and `sizeBytes` the sum of its files.
 */
export const modelRefSchema = z.object({
  url: z.string().min(1).max(2_000).refine(isWellFormed, ILL_FORMED),
  /** Lower-case hex; null when the publisher gives none. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  sizeBytes: z.number().int().positive().nullable(),
});
export type ModelRef = z.infer<typeof modelRefSchema>;

/** A LoRA adapter in a GGUF file, added to an `llmcpp` Cargo's model at its load. Always pinned. */
export const adapterSchema = modelRefSchema.extend({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** How much of it is added. */
  scale: z.number().min(-10).max(10),
});
export const MAX_ADAPTERS = 4;

/** Number formats of ONNX weights under transformers.js' names. Each picks its files of a hub folder. */
export const WEIGHT_FORMATS = ["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4"] as const;
export type WeightFormat = (typeof WEIGHT_FORMATS)[number];

/** Arguments of a program, one string each; nothing is split or expanded. */
export const argumentsSchema = z.array(z.string().max(8_192).refine(isWellFormed, ILL_FORMED)).max(64);

/** `registry/name:tag`, always with both, so that no engine adds a default. */
const IMAGE_PATTERN =
  /^[a-z0-9.-]+(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** The image of a container Cargo and what it is granted. It reads one JSON line and writes JSON lines (docs/reference/cargo-format.md). */
export const containerSchema = z.object({
  image: z.string().max(500).regex(IMAGE_PATTERN, { message: "must be registry/name:tag" }),
  /** Digest of the image's manifest, checked after the pull; null: not checked. */
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .nullable(),
  /** Replaces the image's entry point and arguments; null: the image's own. */
  command: argumentsSchema.min(1).nullable(),
  gpu: z.boolean(),
  network: z.boolean(),
});
export type ContainerSpec = z.infer<typeof containerSchema>;

export const cargoSlugSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/);

/** A week. */
export const MAX_KEEP_ALIVE_MS = 604_800_000;

/** What an Island must know of a Cargo to run it; travels in `assign` and `preload`. */
export const cargoManifestSchema = z.object({
  slug: cargoSlugSchema,
  runtimeType: z.enum(RUNTIME_TYPES),
  onnxTaskType: z.string().max(100).nullable(),
  model: modelRefSchema.nullable(),
  requiredRamBytes: z.number().int().nonnegative(),
  requiredVramBytes: z.number().int().nonnegative(),
  /** Tokens of context per concurrent job; null where the runtime has no such thing. */
  contextTokens: z.number().int().positive().nullable(),
  /** `onnx` and `diffusers` only. Absent: the runtime's own choice. */
  weights: z.enum(WEIGHT_FORMATS).optional(),
  /** `container` only, and always there. */
  container: containerSchema.optional(),
  /** `wasm` only: what follows the program's name. */
  args: argumentsSchema.optional(),
  /** `llmcpp` only: what it does instead of chatting, one of `TEXT_TASKS`. Absent: it chats. */
  task: z.string().max(100).optional(),
  /** `llmcpp` chats only. */
  adapters: z.array(adapterSchema).min(1).max(MAX_ADAPTERS).optional(),
  /** `llmcpp` chats only: the model thinks before it answers. Absent: its thoughts, if there are any, are not told. */
  reasoning: z.literal(true).optional(),
  /** `llmcpp` chats only: the model's template tells it of tools, in Hermes' form. Absent: its prompt does. */
  tools: z.literal("template").optional(),
  /** How long it stays in memory after its last job, unless its memory is needed before; 0: no time. Absent: as its runtime does. */
  keepAliveMs: z.number().int().min(0).max(MAX_KEEP_ALIVE_MS).optional(),
  /** For owners who decide by it. Absent in manifests of earlier versions. */
  category: z.enum(CARGO_CATEGORIES).optional(),
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
  /** Limits of phases that differ from the coordinator's settings. */
  readonly phaseLimitsMs?: Partial<PhaseLimits>;
  /** JSON Schema (2020-12) of a job's input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly exampleInput: Readonly<Record<string, unknown>>;
  /** JSON Schema (2020-12) of what a job puts out. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** Takes chat input and streams text: it may be named as `model` of a chat completion. */
  readonly isChat: boolean;
}

/** The part of a Cargo that travels to an Island. */
export function manifestOf(cargo: CargoManifest): CargoManifest {
  const { slug, runtimeType, onnxTaskType, model, requiredRamBytes, requiredVramBytes, contextTokens } = cargo;
  const { weights, container, args, task, adapters, reasoning, tools, keepAliveMs, category } = cargo;
  return {
    slug,
    runtimeType,
    onnxTaskType,
    model,
    requiredRamBytes,
    requiredVramBytes,
    contextTokens,
    ...(weights === undefined ? {} : { weights }),
    ...(container === undefined ? {} : { container }),
    ...(args === undefined ? {} : { args }),
    ...(task === undefined ? {} : { task }),
    ...(adapters === undefined ? {} : { adapters }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tools === undefined ? {} : { tools }),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    ...(category === undefined ? {} : { category }),
  };
}

/** Names a model's bytes: its hash where known, else its address. The key of the Islands' stores and of cache reports. */
export function modelKey(model: ModelRef): string {
  return model.sha256 ?? model.url;
}

/** Runtimes whose model may be a folder. */
const FOLDER_RUNTIMES: ReadonlySet<RuntimeType> = new Set(["onnx", "diffusers", "coreml"]);

/** Whether the Cargo's model is a folder of files. Runtime and `weights` decide which of them it needs. */
export function hasFolderModel({ runtimeType, model }: Pick<CargoManifest, "runtimeType" | "model">): boolean {
  return model !== null && FOLDER_RUNTIMES.has(runtimeType) && isFolderAddress(model.url);
}

/** An image as container engines take it: pinned where its digest is known. */
export function imageReference({ image, digest }: ContainerSpec): string {
  return digest === null ? image : `${image}@${digest}`;
}

/**
 * Key of what the Cargo needs on an Island's disk, as in cache reports; null when it needs nothing. Other `weights` of a folder
 * are other files, and have another key.
 */
export function cacheKeyOf(
  cargo: Pick<CargoManifest, "runtimeType" | "model" | "weights" | "container">,
): string | null {
  const { model, weights, container } = cargo;
  if (model !== null) {
    const key = modelKey(model);
    return weights !== undefined && hasFolderModel(cargo) ? `${key} ${weights}` : key;
  }
  return container === undefined ? null : imageReference(container);
}
