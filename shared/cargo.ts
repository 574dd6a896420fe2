import { z } from "zod";

/** Source: spec §2. */
export const RUNTIME_TYPES = ["container", "wasm", "onnx", "llmcpp", "diffusers", "coreml"] as const;
export type RuntimeType = (typeof RUNTIME_TYPES)[number];

/** Source: spec §4. */
export const CARGO_CATEGORIES = ["llm", "image", "audio", "vision", "text", "utility"] as const;
export type CargoCategory = (typeof CARGO_CATEGORIES)[number];

/** Canonical JSON, which is signed (cargo-signature.ts), has no form for other text. */
const isWellFormed = (text: string): boolean => text.isWellFormed();
const ILL_FORMED = { message: "must be well-formed Unicode" };

/**
 * A model to fetch. `url`: `hf:owner/repo[:file]`, `https:…`, or a path that the coordinator itself serves (`/models/…`).
 * For a folder (`hasFolderModel`) `sha256` is the hash of its `files.json`, and `sizeBytes` the size of all its files.
 */
export const modelRefSchema = z.object({
  url: z.string().min(1).max(2_000).refine(isWellFormed, ILL_FORMED),
  /** Lower-case hex; null if the publisher states none. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  sizeBytes: z.number().int().positive().nullable(),
});
export type ModelRef = z.infer<typeof modelRefSchema>;

/** Number formats of ONNX weights, with transformers.js' names. Each selects its files of a hub folder. */
export const WEIGHT_FORMATS = ["fp32", "fp16", "int8", "uint8", "q8", "q4", "q4f16", "bnb4"] as const;
export type WeightFormat = (typeof WEIGHT_FORMATS)[number];

/** Arguments of a program, one string each; nothing is split or expanded. */
export const argumentsSchema = z.array(z.string().max(8_192).refine(isWellFormed, ILL_FORMED)).max(64);

/** `registry/name:tag`; both are required, so that no container engine adds its own defaults. */
const IMAGE_PATTERN =
  /^[a-z0-9.-]+(?::\d{1,5})?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** The image of a container Cargo and its permissions. It reads one JSON line and writes JSON lines (catalog/README.md). */
export const containerSchema = z.object({
  image: z.string().max(500).regex(IMAGE_PATTERN, { message: "must be registry/name:tag" }),
  /** Digest of the image's manifest, checked after the pull; null accepts any image with the tag. */
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .nullable(),
  /** Replaces the image's entry point and its arguments; null keeps them. */
  command: argumentsSchema.min(1).nullable(),
  gpu: z.boolean(),
  network: z.boolean(),
});
export type ContainerSpec = z.infer<typeof containerSchema>;

export const cargoSlugSchema = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/);

/** What an Island needs to know to run a Cargo; sent in `assign` and `preload`. */
export const cargoManifestSchema = z.object({
  slug: cargoSlugSchema,
  runtimeType: z.enum(RUNTIME_TYPES),
  onnxTaskType: z.string().max(100).nullable(),
  model: modelRefSchema.nullable(),
  requiredRamBytes: z.number().int().nonnegative(),
  requiredVramBytes: z.number().int().nonnegative(),
  /** Tokens of context per concurrent job; null for runtimes without a context. */
  contextTokens: z.number().int().positive().nullable(),
  /** `onnx`, `diffusers` and `coreml` only. Absent: the runtime chooses. */
  weights: z.enum(WEIGHT_FORMATS).optional(),
  /** Present exactly for `container`. */
  container: containerSchema.optional(),
  /** `wasm` only: the arguments after the program's name. */
  args: argumentsSchema.optional(),
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
  /** JSON Schema (2020-12) of a job's output. */
  readonly outputSchema: Readonly<Record<string, unknown>>;
  /** Takes chat input and streams text, so it can be the `model` of a chat completion. */
  readonly isChat: boolean;
}

/** The part of a Cargo that is sent to an Island. */
export function manifestOf(cargo: CargoManifest): CargoManifest {
  const { slug, runtimeType, onnxTaskType, model, requiredRamBytes, requiredVramBytes, contextTokens } = cargo;
  const { weights, container, args } = cargo;
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
  };
}

/** Identifies a model's bytes: its hash if known, else its address. The key in the stores of Islands and in cache reports. */
export function modelKey(model: ModelRef): string {
  return model.sha256 ?? model.url;
}

/** Runtimes whose model may be a folder. */
const FOLDER_RUNTIMES: ReadonlySet<RuntimeType> = new Set(["onnx", "diffusers", "coreml"]);
/** `hf:owner/repo[#revision]`, or a list of files (`…/files.json`). */
const FOLDER_URL = /^hf:[^/:#]+\/[^/:#]+(?:#[^#]+)?$|^(?!hf:).*\/files\.json$/;

/** Whether the Cargo's model is a folder; runtime and `weights` select files of it. */
export function hasFolderModel({ runtimeType, model }: Pick<CargoManifest, "runtimeType" | "model">): boolean {
  return model !== null && FOLDER_RUNTIMES.has(runtimeType) && FOLDER_URL.test(model.url);
}

/** The reference of an image for container engines; pinned if its digest is known. */
export function imageReference({ image, digest }: ContainerSpec): string {
  return digest === null ? image : `${image}@${digest}`;
}

/**
 * The key in cache reports of what an Island must have on disk for the Cargo; null if it needs nothing. Other `weights` of a folder
 * are other files, so they are part of the key.
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
