import { z } from "zod";
import type { PhaseLimits } from "./attempt-phase.ts";
import { isFolderAddress } from "./model-address.ts";

/** Source: spec §2; `engine` (a server of the host that generates text) is Atoll's own. */
export const RUNTIME_TYPES = ["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml", "engine"] as const;
export type RuntimeType = (typeof RUNTIME_TYPES)[number];

/** Returns whether the runtime's Cargos are chats, or embed or rank texts. */
export function isTextRuntime(type: RuntimeType): boolean {
  return type === "llmcpp" || type === "engine";
}

/** Source: spec §4. */
export const CARGO_CATEGORIES = ["llm", "image", "audio", "vision", "text", "utility"] as const;
export type CargoCategory = (typeof CARGO_CATEGORIES)[number];

/** Canonical JSON, which is signed (cargo-signature.ts), requires well-formed Unicode. */
const isWellFormed = (text: string): boolean => text.isWellFormed();
const ILL_FORMED = { message: "must be well-formed Unicode" };

/**
 * Model to download. `url` follows the grammar in model-address.ts. For a folder (`hasFolderModel`), `sha256` is the
 * hash of its `files.json` and `sizeBytes` the sum of its files.
 */
export const modelRefSchema = z.object({
  url: z.string().min(1).max(2_000).refine(isWellFormed, ILL_FORMED),
  /** SHA-256 in lower-case hex; null if the publisher does not state it. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  sizeBytes: z.number().int().positive().nullable(),
});
export type ModelRef = z.infer<typeof modelRefSchema>;

/** LoRA adapter in a GGUF file, added to an `llmcpp` Cargo's model when it is loaded. Always pinned. */
export const adapterSchema = modelRefSchema.extend({
  sha256: modelRefSchema.shape.sha256.unwrap(),
  /** Factor by which the adapter's weights are multiplied. */
  scale: z.number().min(-10).max(10),
});
export const MAX_ADAPTERS = 4;

/** Further file of an `llmcpp` Cargo's model. Always pinned. */
export const modelFileSchema = modelRefSchema.extend({
  sha256: modelRefSchema.shape.sha256.unwrap(),
  sizeBytes: modelRefSchema.shape.sizeBytes.unwrap(),
});
export const MAX_PARTS = 64;

/** Number formats of ONNX weights, with transformers.js' names. Each selects its files of a hub folder. */
export const WEIGHT_FORMATS = ["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4"] as const;
export type WeightFormat = (typeof WEIGHT_FORMATS)[number];

/** Arguments of a program, one string each. They are neither split nor expanded. */
export const argumentsSchema = z.array(z.string().max(8_192).refine(isWellFormed, ILL_FORMED)).max(64);

/** Pattern of `registry/name:tag`. Both are required, so that no engine adds a default. */
const IMAGE_PATTERN =
  /^[a-z0-9.-]+(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/**
 * Image of a container Cargo and its permissions. The container reads one JSON line and writes JSON lines
 * (docs/reference/programs.md).
 */
export const containerSchema = z.object({
  image: z.string().max(500).regex(IMAGE_PATTERN, { message: "must be registry/name:tag" }),
  /** Digest of the image's manifest, which is checked after the pull; null if it is not checked. */
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .nullable(),
  /** Replaces the image's entry point and arguments; null to use those of the image. */
  command: argumentsSchema.min(1).nullable(),
  gpu: z.boolean(),
  network: z.boolean(),
});
export type ContainerSpec = z.infer<typeof containerSchema>;

export const cargoSlugSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/);

/** One week. */
export const MAX_KEEP_ALIVE_MS = 604_800_000;

/** Facts that an Island needs to run a Cargo, sent in `assign` and `preload`. */
export const cargoManifestSchema = z.object({
  slug: cargoSlugSchema,
  runtimeType: z.enum(RUNTIME_TYPES),
  onnxTaskType: z.string().max(100).nullable(),
  model: modelRefSchema.nullable(),
  requiredRamBytes: z.number().int().nonnegative(),
  requiredVramBytes: z.number().int().nonnegative(),
  /** Tokens of context per concurrent job; null if the runtime has no context. */
  contextTokens: z.number().int().positive().nullable(),
  /** For `onnx` and `diffusers` only. If absent, the runtime chooses. */
  weights: z.enum(WEIGHT_FORMATS).optional(),
  /** Required for `container`, absent for all other runtimes. */
  container: containerSchema.optional(),
  /** Arguments after the program's name, for `wasm` only. */
  args: argumentsSchema.optional(),
  /** One of `TEXT_TASKS`, for `llmcpp` only. If absent, the Cargo is a chat Cargo. */
  task: z.string().max(100).optional(),
  /** Second and following files of a GGUF model that is split into several, in their order; `llmcpp` only. */
  parts: z.array(modelFileSchema).min(1).max(MAX_PARTS).optional(),
  /** GGUF file that turns images into tokens of the model (`mmproj`), for `llmcpp` chats only. */
  projector: modelFileSchema.optional(),
  /** For `llmcpp` chats only. */
  adapters: z.array(adapterSchema).min(1).max(MAX_ADAPTERS).optional(),
  /** Whether the model reasons before it answers, for `llmcpp` chats only. If absent, reasoning is not reported. */
  reasoning: z.literal(true).optional(),
  /**
   * How tools are described, for `llmcpp` chats only: by the model's chat template, in the form of Hermes. If absent,
   * they are described in the prompt.
   */
  tools: z.literal("template").optional(),
  /**
   * Time that an idle model stays in memory, unless another Cargo needs the memory; 0 to unload it at once. If absent,
   * the default of the runtime applies.
   */
  keepAliveMs: z.number().int().min(0).max(MAX_KEEP_ALIVE_MS).optional(),
  /** Category, by which owners can allow or deny Cargos. Absent in manifests of earlier versions. */
  category: z.enum(CARGO_CATEGORIES).optional(),
});
export type CargoManifest = z.infer<typeof cargoManifestSchema>;

/** A catalog entry. Money in micro-credits (1/1,000,000 credit), times in ms. */
export interface Cargo extends CargoManifest {
  readonly name: string;
  readonly description: string;
  readonly category: CargoCategory;
  readonly licence: string;
  /** Price of a job; for a Cargo that is priced by size, of a job of the reference size. */
  readonly priceMicro: number;
  /** Time limit of one attempt, from `started`. */
  readonly runLimitMs: number;
  /** Time limit from submission to start. */
  readonly waitLimitMs: number;
  /** The time limits of phases that differ from the coordinator's settings. */
  readonly phaseLimitsMs?: Partial<PhaseLimits>;
  /** JSON Schema (2020-12) of a job's input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly exampleInput: Readonly<Record<string, unknown>>;
  /** JSON Schema (2020-12) of a job's output. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** Whether the model of an `engine` chat reads images. Other chats read images if they have a `projector`. */
  readonly readsImages?: true;
  /** Whether the Cargo accepts chat input and streams text, so that it can be the `model` of a chat completion. */
  readonly isChat: boolean;
}

export function canReadImages({
  projector,
  readsImages,
}: Pick<Cargo, "readsImages"> & Pick<CargoManifest, "projector">): boolean {
  return projector !== undefined || readsImages === true;
}

/** Returns the part of a Cargo that is sent to an Island. */
export function manifestOf(cargo: CargoManifest): CargoManifest {
  const { slug, runtimeType, onnxTaskType, model, requiredRamBytes, requiredVramBytes, contextTokens } = cargo;
  const { weights, container, args, task, parts, projector, adapters, reasoning, tools, keepAliveMs, category } = cargo;
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
    ...(parts === undefined ? {} : { parts }),
    ...(projector === undefined ? {} : { projector }),
    ...(adapters === undefined ? {} : { adapters }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tools === undefined ? {} : { tools }),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    ...(category === undefined ? {} : { category }),
  };
}

/**
 * Returns the identity of a model's bytes: its hash if known, otherwise its address. It is the key of the Islands'
 * stores and of cache reports.
 */
export function modelKey(model: ModelRef): string {
  return model.sha256 ?? model.url;
}

/** Tokens of context that every engine is expected to have. */
const USUAL_CONTEXT_TOKENS = 4_096;

/**
 * Returns whether a model that an engine serves under a key runs the Cargo. The hash of one file does not prove which
 * other parts the engine has.
 * @param served `contextTokens`: null if the engine does not report them
 */
export function isServedBy(
  {
    runtimeType,
    model,
    parts,
    adapters,
    contextTokens,
  }: Pick<CargoManifest, "runtimeType" | "model" | "parts" | "adapters" | "contextTokens">,
  served: { readonly key: string; readonly contextTokens: number | null },
): boolean {
  if (!isTextRuntime(runtimeType) || model === null || parts !== undefined || adapters !== undefined) return false;
  return modelKey(model) === served.key && (contextTokens ?? 0) <= (served.contextTokens ?? USUAL_CONTEXT_TOKENS);
}

/** Runtimes that support folders as models. */
const FOLDER_RUNTIMES: ReadonlySet<RuntimeType> = new Set(["onnx", "diffusers", "coreml"]);

/** Returns whether the Cargo's model is a folder of files. The runtime and `weights` decide which files it needs. */
export function hasFolderModel({ runtimeType, model }: Pick<CargoManifest, "runtimeType" | "model">): boolean {
  return model !== null && FOLDER_RUNTIMES.has(runtimeType) && isFolderAddress(model.url);
}

/** Returns an image reference for container engines, pinned if its digest is known. */
export function imageReference({ image, digest }: ContainerSpec): string {
  return digest === null ? image : `${image}@${digest}`;
}

/**
 * Returns the key by which cache reports name the model or image that the Cargo needs on an Island's disk; null if it
 * needs neither. Different `weights` of a folder are different files with different keys.
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
