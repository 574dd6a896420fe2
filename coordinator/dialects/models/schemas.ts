import { z } from "@hono/zod-openapi";
import { BASE_OUTPUT_TOKENS, MAX_OUTPUT_TOKENS } from "../../../shared/chat-input.ts";
import { ValidationError } from "../../../shared/errors.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { MODEL_PATHS, modelKindOf, type ModelKind } from "../../catalog/model-kind.ts";
import type { AvailableCargo } from "../../islands/cargo-availability.ts";
import type { CargoSpeed } from "../../metrics/cargo-speeds.ts";
import { queryInt } from "../../http/schemas/pagination.ts";
import { creditsSchema, presentCredits } from "../../http/schemas/wire-units.ts";

export const modelSchema = z
  .object({
    id: z.string().describe("Slug of the Cargo, or the alias"),
    object: z.literal("model"),
    created: z.int().describe("When it came into the catalog of this network: Unix time in seconds"),
    owned_by: z.string(),
    type: z.enum(Object.keys(MODEL_PATHS) as ModelKind[]),
    capabilities: z.array(z.string()).describe("Endpoints that serve it, by their paths"),
    alias_of: z.string().nullable().describe("Slug of the Cargo that an alias stands for"),
    is_default: z.boolean().describe("Requests to an endpoint of its `capabilities` that name no model run on it"),
    available: z.boolean().describe("A connected Island can run it now; else requests wait for one"),
    ready: z
      .boolean()
      .describe("An Island that can run it now has its model or image, or needs none: no download first"),
    free: z.int().describe("Islands that can run it now and have a free slot"),
    pricing: z
      .object({ per_job: creditsSchema, unit: z.literal("credits") })
      .describe("A request costs `per_job` for each of its jobs, however many tokens it has"),
    context_length: z.int().nullable().describe("Tokens of prompt and answer together; null: no limit is known"),
    max_output_tokens: z
      .int()
      .nullable()
      .describe("Most tokens of an answer, for `max_tokens`; null: it does not chat"),
    tokens_per_second: z
      .number()
      .nullable()
      .describe(
        "Median of the last 100 jobs in 24 h, measured by the coordinator that answers, since it started; null: none was measured",
      ),
    first_token_ms: z
      .int()
      .nullable()
      .describe("Median time from a chat's submission to its first token, measured in the same way"),
    tool_calls: z
      .enum(["template", "grammar"])
      .nullable()
      .describe(
        "Who tells it of tools; null: nobody, it calls none. template: its own chat template. grammar: our text in the prompt. A grammar keeps its calls either way",
      ),
    reasoning: z.boolean().describe("It thinks before it answers: `reasoning_content`, `reasoning_effort`"),
  })
  .openapi("Model");

/** Paths below the API's base. */
const ENDPOINTS: Readonly<Record<ModelKind, readonly string[]>> = {
  chat: ["/chat/completions", "/completions", "/messages", "/responses"],
  embedding: ["/embeddings", "/rerank"],
  rerank: ["/rerank"],
  classification: ["/moderations"],
  image: ["/images/generations"],
  transcription: ["/audio/transcriptions", "/audio/translations"],
  speech: ["/audio/speech"],
};

export interface ModelState {
  readonly isDefault: boolean;
  /** Undefined if no Island can run it now. */
  readonly available: AvailableCargo | undefined;
  readonly speed: CargoSpeed;
}

/** Most tokens of an answer of a Cargo that chats. */
function maxOutputTokensOf({ contextTokens }: CatalogEntry): number {
  return Math.min(MAX_OUTPUT_TOKENS, contextTokens ?? BASE_OUTPUT_TOKENS);
}

/** @param id The slug, or an alias of it. */
export function presentModel(
  id: string,
  cargo: CatalogEntry,
  { isDefault, available, speed }: ModelState,
): z.infer<typeof modelSchema> {
  const { tokensPerSecond, firstTokenMs } = speed;
  const kind = modelKindOf(cargo);
  if (kind === null) throw new Error(`${cargo.slug} is no model`);
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
    pricing: { per_job: presentCredits(cargo.priceMicro), unit: "credits" },
    context_length: cargo.contextTokens,
    max_output_tokens: kind === "chat" ? maxOutputTokensOf(cargo) : null,
    tokens_per_second: tokensPerSecond === null ? null : Math.round(10 * tokensPerSecond) / 10,
    first_token_ms: firstTokenMs === null ? null : Math.round(firstTokenMs),
    tool_calls: kind === "chat" ? (cargo.tools ?? "grammar") : null,
    reasoning: cargo.reasoning === true,
  };
}

/** A Cargo by the name that the client knows it by: its slug or an alias. */
export interface NamedCargo {
  readonly id: string;
  readonly cargo: CatalogEntry;
}

const idSchema = z.string().max(200).optional();
/** Source of the bounds: Anthropic's API. */
export const anthropicModelsQuery = z
  .object({ limit: queryInt(1, 1_000, 20), after_id: idSchema, before_id: idSchema })
  .refine(({ after_id: after, before_id: before }) => after === undefined || before === undefined, {
    path: ["before_id"],
    message: "cannot be combined with after_id",
  });

/** One page of `models`. @throws {ValidationError} for a cursor that is none of their ids */
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

/** `ModelInfo` of Anthropic's API. */
export function presentAnthropicModel({ id, cargo }: NamedCargo) {
  const thinks = { supported: cargo.reasoning === true };
  return {
    type: "model",
    id,
    display_name: cargo.name,
    created_at: new Date(cargo.createdAtMs).toISOString(),
    lifecycle: "active",
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
      image_input: NO,
      pdf_input: NO,
      server_tools: { ...NO, code_execution: NO, web_search: NO },
      structured_outputs: { supported: true },
      thinking: {
        ...thinks,
        types: { adaptive: thinks, between_tools: NO, disabled: { supported: true }, enabled: thinks },
      },
    },
  };
}

function indexOf(models: readonly NamedCargo[], path: string, id: string): number {
  const index = models.findIndex((model) => model.id === id);
  if (index !== -1) return index;
  throw new ValidationError([{ path, message: `"${id}" is not the id of a model` }]);
}
