import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import { TEXT_TASK_OUTPUTS } from "../../../shared/text-task.ts";
import type { Usage } from "../../../shared/output.ts";
import { ignored, refused, requestObject } from "../../../shared/request-object.ts";

/** Maximum documents: with the query, one job of at most 256 texts, the limit of embedding Cargos. */
const MAX_DOCUMENTS = 255;
/** Maximum bytes of the texts, which leave 1 KiB of a job's input for the JSON around them. */
const MAX_TEXTS_BYTES = MAX_INPUT_BYTES - KIB;
const UNCUT = "texts are never truncated";

const textSchema = z.string().min(1, "must not be empty");
const documentSchema = z.union([textSchema, z.object({ text: textSchema })], {
  error: "must be a string, or an object with a `text`",
});

/** Body of a rerank request. Source: the rerank APIs of Cohere (v2), Jina and Voyage. `null` means "not given". */
export const rerankBodySchema = requestObject({
  model: z
    .string()
    .min(1)
    .nullish()
    .describe(
      "Slug or alias of a Cargo with the task `text-ranking` or `feature-extraction`. Default: the setting `default_rerank_cargo`",
    ),
  query: textSchema,
  documents: z.array(documentSchema).min(1, "must have at least one document").max(MAX_DOCUMENTS),
  top_n: z.int().min(1).nullish().describe("Number of results to return. Default: all"),
  return_documents: z.boolean().nullish().describe("Default false"),
  top_k: refused("use `top_n`"),
  max_tokens_per_doc: refused(UNCUT),
  max_chunks_per_doc: refused(UNCUT),
  rank_fields: refused("documents contain only text"),
  truncation: refused(UNCUT, [false]),
  priority: ignored("rerank requests have no priority"),
})
  .refine(({ query, documents }) => Buffer.byteLength(JSON.stringify([query, ...documents])) <= MAX_TEXTS_BYTES, {
    path: ["documents"],
    message: `must have at most ${MAX_TEXTS_BYTES} bytes as JSON, together with the query`,
  })
  .openapi("RerankRequest");
export type RerankBody = z.infer<typeof rerankBodySchema>;

export const rerankSchema = z
  .object({
    id: z.string().describe("Id of the job"),
    object: z.literal("list"),
    model: z.string(),
    results: z
      .array(
        z.object({
          index: z.int().describe("Index of the document in the request"),
          relevance_score: z
            .number()
            .min(0)
            .max(1)
            .describe(
              "Score of the reranking Cargo, or (1 + cosine of the two vectors) / 2. Compare scores only within one response",
            ),
          document: z.object({ text: z.string() }).optional(),
        }),
      )
      .describe("Results, best first"),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
    meta: z
      .object({ tokens: z.object({ input_tokens: z.int(), output_tokens: z.literal(0) }) })
      .describe("`usage` in the format of Cohere's API"),
  })
  .openapi("Reranking");

export function documentTexts({ documents }: RerankBody): string[] {
  return documents.map((document) => (typeof document === "string" ? document : document.text));
}

/** Returns the scores in a reranking Cargo's output; undefined unless there are `count` scores. */
export function rankerScoresOf(output: unknown, count: number): readonly number[] | undefined {
  const { data } = TEXT_TASK_OUTPUTS["text-ranking"].safeParse(output);
  return data?.scores.length === count ? data.scores : undefined;
}

/** Returns (1 + cosine) / 2, from 0 to 1; 0.5 if one of the vectors is zero. */
export function nearnessOf(a: readonly number[], b: readonly number[]): number {
  const product = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  const lengths = Math.hypot(...a) * Math.hypot(...b);
  const cosine = lengths === 0 ? 0 : product / lengths;
  return Math.max(0, Math.min(1, (1 + cosine) / 2));
}

/**
 * Presents the documents by score. Documents with the same score keep their order.
 * @param scores Scores of the documents, in their order.
 */
export function presentReranking(
  { id, scores }: { readonly id: string; readonly scores: readonly number[] },
  body: RerankBody & { readonly model: string },
  { promptTokens }: Usage,
): z.infer<typeof rerankSchema> {
  const texts = documentTexts(body);
  const scored = scores.map((score, index) => ({ index, relevance_score: score }));
  const best = scored.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, body.top_n ?? undefined);
  const results = best.map((result) =>
    body.return_documents === true ? { ...result, document: { text: texts[result.index] ?? "" } } : result,
  );
  return {
    id,
    object: "list",
    model: body.model,
    results,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    meta: { tokens: { input_tokens: promptTokens, output_tokens: 0 } },
  };
}
