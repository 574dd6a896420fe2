import { z } from "@hono/zod-openapi";
import { canReadImages } from "../../../shared/cargo.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { modelKindOf, MODEL_PATHS, type ModelKind } from "../../catalog/model-kind.ts";
import { BASE_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import { ValidationError } from "../../../shared/errors.ts";
import type { AvailableCargo } from "../../islands/cargo-availability.ts";
import type { CargoSpeed } from "../../metrics/cargo-speeds.ts";
import { modelFactShape, presentModelFacts, presentRates, rateShape } from "../../http/schemas/model-facts.ts";
import { queryInt } from "../../http/schemas/pagination.ts";
import { creditsSchema, presentCredits } from "../../http/schemas/wire-units.ts";

export const modelSchema = z
  .object({
    id: z.string().describe("Slug or alias of the Cargo"),
    object: z.literal("model"),
    created: z.int().describe("Unix time in seconds at which the Cargo was added to the catalog"),
    owned_by: z.string(),
    type: z.enum(Object.keys(MODEL_PATHS) as ModelKind[]),
    capabilities: z.array(z.string()).describe("Paths of the endpoints that accept the model"),
    alias_of: z.string().nullable().describe("Slug of the Cargo if the id is an alias; otherwise null"),
    is_default: z
      .boolean()
      .describe("Whether requests without `model` to an endpoint in `capabilities` use this Cargo"),
    available: z.boolean().describe("Whether a connected Island can run the Cargo now; otherwise requests wait"),
    ready: z.boolean().describe("Whether such an Island needs no download first"),
    free: z.int().describe("Number of Islands that can run the Cargo now and have a free slot"),
    pricing: z
      .object({ per_job: creditsSchema, unit: z.literal("credits"), ...rateShape })
      .describe(
        "A request costs its tokens, pixels or seconds by the prices that are not null, otherwise `per_job` for each of its jobs. With such prices, `per_job` is the price of a job of the reference size",
      ),
    context_length: z
      .int()
      .nullable()
      .describe("Maximum number of tokens in prompt and completion together; null if unknown"),
    max_output_tokens: z.int().nullable().describe("Maximum of `max_tokens`; null if it is not a chat Cargo"),
    tokens_per_second: z
      .number()
      .nullable()
      .describe(
        "Median of the most recent 100 jobs within 24 h, measured by this coordinator since its start; null if no job was measured",
      ),
    first_token_ms: z
      .int()
      .nullable()
      .describe("Median time from a chat's submission to its first token, measured like `tokens_per_second`"),
    tool_calls: z
      .enum(["template", "grammar"])
      .nullable()
      .describe(
        "How the prompt describes the tools: with the model's own chat template (`template`), or with a text that Atoll adds (`grammar`). In both cases, a grammar enforces the calls. Null if the Cargo does not support tool calls",
      ),
    name: z.string().describe("Name of the Cargo, for people"),
    hugging_face_id: z.string().nullable().describe("Repository of the model on Hugging Face; null if unknown"),
    is_ready: z.boolean().describe("Same as `ready`, as OpenRouter names it"),
    max_output_length: z.int().nullable().describe("Same as `max_output_tokens`, as OpenRouter names it"),
    supported_sampling_parameters: z.array(z.string()).describe("Sampling parameters that chats accept"),
    ...modelFactShape,
    islands_ready: z.int().describe("Number of Islands that can run the Cargo now without a download"),
    reasoning: z
      .boolean()
      .describe("Whether the model reasons before its completion (`reasoning_content`, `reasoning_effort`)"),
  })
  .openapi("Model");

/** Endpoints that can run a kind of model, as paths below the API's base. */
const ENDPOINTS: Readonly<Record<ModelKind, readonly string[]>> = {
  chat: ["/chat/completions", "/completions", "/messages", "/responses"],
  embedding: ["/embeddings", "/rerank"],
  rerank: ["/rerank"],
  classification: ["/moderations"],
  image: ["/images/generations"],
  transcription: ["/audio/transcriptions", "/audio/translations"],
  speech: ["/audio/speech"],
};

const SAMPLING_PARAMETERS = Object.keys(samplingFields).filter((name) => name !== "response_format");

export interface ModelState {
  readonly isDefault: boolean;
  /** Availability of the Cargo; undefined if no Island can run it now. */
  readonly available: AvailableCargo | undefined;
  readonly speed: CargoSpeed;
}

function maxOutputTokensOf({ contextTokens }: CatalogEntry): number {
  return Math.min(MAX_OUTPUT_TOKENS, contextTokens ?? BASE_OUTPUT_TOKENS);
}

export function presentModel(
  { id, cargo }: NamedCargo,
  { isDefault, available, speed }: ModelState,
): z.infer<typeof modelSchema> {
  const { tokensPerSecond, firstTokenMs } = speed;
  const kind = modelKindOf(cargo);
  if (kind === null) throw new Error(`Cargo ${cargo.slug} has no model kind`);
  return {
    id,
    object: "model",
    created: Math.floor(cargo.createdAtMs / 1_000),
    owned_by: "atoll",
    type: kind,
    capabilities: [...ENDPOINTS[kind]],
    alias_of: id === cargo.slug ? null : cargo.slug,
    is_default: isDefault,
    available: available !== undefined,
    ready: (available?.ready ?? 0) > 0,
    free: available?.free ?? 0,
    pricing: { per_job: presentCredits(cargo.priceMicro), unit: "credits", ...presentRates(cargo) },
    context_length: cargo.contextTokens,
    max_output_tokens: kind === "chat" ? maxOutputTokensOf(cargo) : null,
    tokens_per_second: tokensPerSecond === null ? null : Math.round(10 * tokensPerSecond) / 10,
    first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
    name: cargo.name,
    hugging_face_id: /^hf:([^/:#]+\/[^/:#]+)/.exec(cargo.model?.url ?? "")?.[1] ?? null,
    is_ready: (available?.ready ?? 0) > 0,
    max_output_length: kind === "chat" ? maxOutputTokensOf(cargo) : null,
    supported_sampling_parameters: kind === "chat" ? [...SAMPLING_PARAMETERS] : [],
    ...presentModelFacts(cargo),
    islands_ready: available?.ready ?? 0,
    tool_calls: kind === "chat" ? (cargo.tools ?? "grammar") : null,
    reasoning: cargo.reasoning === true,
  };
}

/** A Cargo with the id by which the client requests it: its slug or an alias. */
export interface NamedCargo {
  readonly id: string;
  readonly cargo: CatalogEntry;
}

const idSchema = z.string().max(200).optional();
/** Query of the list in Anthropic's format. Source of the bounds: Anthropic's API. */
export const anthropicModelsQuery = z
  .object({ limit: queryInt(1, 1_000, 20), after_id: idSchema, before_id: idSchema })
  .refine(({ after_id: after, before_id: before }) => after === undefined || before === undefined, {
    path: ["before_id"],
    message: "cannot be combined with after_id",
  });

/** Presents one page of `models`. @throws {ValidationError} for a cursor that is not the id of a model in the list */
export function presentAnthropicModels(
  models: readonly NamedCargo[],
  { limit, after_id: afterId, before_id: beforeId }: z.infer<typeof anthropicModelsQuery>,
) {
  const start = afterId === undefined ? 0 : indexOf(models, "after_id", afterId) + 1;
  const end = beforeId === undefined ? models.length : indexOf(models, "before_id", beforeId);
  const rest = models.slice(start, end);
  const page = beforeId === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map(presentAnthropicModel),
    has_more: page.length < rest.length,
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

const NO = { supported: false };
export const ACTIVE = "active";

export function presentAnthropicModel({ id, cargo }: NamedCargo) {
  const reasoning = { supported: cargo.reasoning === true };
  return {
    type: "model",
    id,
    display_name: cargo.name,
    created_at: new Date(cargo.createdAtMs).toISOString(),
    lifecycle: ACTIVE,
    deprecated_at: null,
    retires_at: null,
    line: null,
    max_input_tokens: cargo.contextTokens,
    max_tokens: maxOutputTokensOf(cargo),
    capabilities: {
      batch: NO,
      citations: NO,
      code_execution: NO,
      context_management: {
        ...NO,
        clear_thinking_20251015: null,
        clear_tool_uses_20250919: null,
        compact_20260112: null,
      },
      effort: { ...NO, low: NO, medium: NO, high: NO, max: NO, xhigh: null },
      image_input: { supported: canReadImages(cargo) },
      pdf_input: NO,
      server_tools: { ...NO, code_execution: NO, web_search: NO },
      structured_outputs: { supported: true },
      thinking: {
        ...reasoning,
        types: { adaptive: reasoning, between_tools: NO, disabled: { supported: true }, enabled: reasoning },
      },
    },
  };
}

function indexOf(models: readonly NamedCargo[], path: string, id: string): number {
  const index = models.findIndex((model) => model.id === id);
  if (index !== -1) return index;
  throw new ValidationError([{ path, message: `"${id}" is not the id of a model; GET /models lists the ids` }]);
}
