import { z } from "@hono/zod-openapi";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { MODEL_KINDS, modelKindOf, type ModelKind } from "../../catalog/model-kind.ts";

export const modelSchema = z
  .object({
    id: z.string().openapi({ description: "Slug of the Cargo, or the alias" }),
    object: z.literal("model"),
    created: z.int().openapi({ description: "Always 0: Cargos have no date, and clients need the member" }),
    owned_by: z.string(),
    type: z.enum(MODEL_KINDS),
    capabilities: z.array(z.string()).openapi({ description: "Endpoints that serve it, by their paths" }),
    alias_of: z.string().nullable().openapi({ description: "Slug of the Cargo that an alias stands for" }),
    available: z.boolean().openapi({ description: "A connected Island can run it now; else requests wait for one" }),
    context_length: z
      .int()
      .nullable()
      .openapi({ description: "Tokens of prompt and answer together; null: no limit is known" }),
    tool_calls: z
      .enum(["grammar"])
      .nullable()
      .openapi({ description: "How it calls tools; null: not at all. grammar: told in the prompt, kept by a grammar" }),
    reasoning: z
      .boolean()
      .openapi({ description: "It thinks before it answers: `reasoning_content`, `reasoning_effort`" }),
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

/** @param id The slug, or an alias of it. */
export function presentModel(id: string, cargo: CatalogEntry, isAvailable: boolean): z.infer<typeof modelSchema> {
  const kind = modelKindOf(cargo);
  if (kind === null) throw new Error(`${cargo.slug} is no model`);
  return {
    id,
    object: "model",
    created: 0,
    owned_by: "atoll",
    type: kind,
    capabilities: [...ENDPOINTS[kind]],
    alias_of: id === cargo.slug ? null : cargo.slug,
    available: isAvailable,
    context_length: cargo.contextTokens,
    tool_calls: kind === "chat" ? "grammar" : null,
    reasoning: cargo.reasoning === true,
  };
}
