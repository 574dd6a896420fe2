import { z } from "@hono/zod-openapi";
import { ValidationError } from "../../../shared/errors.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { maxOutputTokensOf } from "./model-schemas.ts";
import { queryInt } from "./pagination.ts";

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
