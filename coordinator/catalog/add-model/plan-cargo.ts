import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { cargoFields, type CargoFile } from "../cargo-fields.ts";
import { readCargo } from "../cargo-file.ts";
import { importedFileName } from "../imported-models.ts";
import { memoryNeedMb, targetOf } from "../memory-need.ts";
import type { FoundFile, FoundModel } from "./find-model.ts";
import type { ModelHeader } from "./gguf-header.ts";

/** Choices of the operator; absent: the default. */
export interface AddOptions {
  readonly slug?: string | undefined;
  /** Tokens of each concurrent job; default 4,096, or less if the model was trained for less. */
  readonly contextTokens?: number | undefined;
  /** Concurrent jobs for which memory is computed; default 4, as agents have by default. */
  readonly slots?: number | undefined;
  /** Credits per job; default: by the number of parameters. */
  readonly price?: number | undefined;
}

const DEFAULT_CONTEXT_TOKENS = 4_096;
const DEFAULT_SLOTS = 4;
/** Price that most shipped Cargos have. */
const CREDITS_PER_BILLION = 0.125;
const MIN_PRICE = 0.01;
const RANK_POOLING = 4;
const EXAMPLE_TEXTS = ["The reef breaks the waves.", "Bread rises in the oven."];
const EXAMPLES = {
  chat: { prompt: "Why is the sea salty? Answer in two sentences.", max_tokens: 128, temperature: 0.7 },
  "feature-extraction": { input: EXAMPLE_TEXTS },
  "text-ranking": { query: "What protects an atoll?", documents: EXAMPLE_TEXTS },
};

/** Returns the Cargo for a model. @throws {ServiceError} `bad_request`; {@link ValidationError} */
export function planCargo(found: FoundModel, header: ModelHeader, options: AddOptions): CargoFile {
  const { trainedTokens, layers, kvHeads, headDim, vocabulary, parameters, pooling } = header;
  const { contextTokens = Math.min(DEFAULT_CONTEXT_TOKENS, trainedTokens), slots = DEFAULT_SLOTS } = options;
  if (contextTokens > trainedTokens) {
    const message = `The model was trained for ${trainedTokens} tokens of context, fewer than ${contextTokens}`;
    throw new ServiceError("bad_request", message);
  }
  const slug = options.slug ?? slugOf(found.name);
  const task = pooling === null ? "chat" : pooling === RANK_POOLING ? "text-ranking" : "feature-extraction";
  const projector = task === "chat" ? found.projector : null;
  const files = [found.model, ...found.parts, ...(projector === null ? [] : [projector])];
  const fileBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const shape = { fileBytes, layers, kvHeads, headDim, vocabulary, contextTokens, sequences: slots };
  const { ramMb, vramMb } = memoryNeedMb(shape, targetOf(parameters));
  const fileOf = ({ url, sha256, sizeBytes }: FoundFile) => ({
    url: url ?? `/models/${importedFileName(slug, sha256, "llmcpp")}`,
    sha256,
    size_bytes: sizeBytes,
  });
  const read = readCargo({
    slug,
    name: oneLine(header.name ?? "", 200) || found.name,
    description: `${oneLine(found.name, 200)}, added from ${found.place}`,
    category: task === "chat" ? "llm" : "text",
    runtime_type: "llmcpp",
    ...(task === "chat" ? {} : { task }),
    licence: oneLine(found.licence ?? header.licence ?? "", 200) || "unknown",
    price_per_job: options.price ?? defaultPrice(parameters),
    required_ram_mb: ramMb,
    required_vram_mb: vramMb,
    model: fileOf(found.model),
    ...(found.parts.length === 0 ? {} : { parts: found.parts.map(fileOf) }),
    ...(projector === null ? {} : { projector: fileOf(projector) }),
    ...(task === "chat" && header.chatTemplate?.includes("</think>") === true ? { reasoning: true } : {}),
    context_tokens: contextTokens,
    parameters: formatParameters(parameters),
    ...(found.quantization === null ? {} : { quantization: found.quantization }),
    memory: { layers, kv_heads: kvHeads, head_dim: headDim, vocabulary, sequences: slots },
    example_input: EXAMPLES[task],
  });
  if ("errors" in read) throw new ValidationError(read.errors);
  return read.file;
}

/** Returns the slug for a name, which `cargoFields.slug` accepts. */
function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 100);
  return cargoFields.slug.safeParse(slug).success ? slug : "model";
}

/** Removes what a publisher could use to forge lines or colours of a terminal. */
function oneLine(text: string, maxLength: number): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .slice(0, maxLength)
    .toWellFormed();
}

function defaultPrice(parameters: number): number {
  const credits = (parameters / 1e9) * CREDITS_PER_BILLION;
  return Math.max(MIN_PRICE, Number(credits.toPrecision(2)));
}

function formatParameters(parameters: number): string {
  const [size, unit] = parameters >= 1e9 ? [parameters / 1e9, "B"] : [parameters / 1e6, "M"];
  return `${Math.max(0.1, Number(size.toFixed(1)))}${unit}`;
}
