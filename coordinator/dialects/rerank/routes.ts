import { ServiceError } from "../../../shared/errors.ts";
import { taskOf, vectorsOf, TEXT_TASK_OUTPUTS } from "../../../shared/text-task.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { runForOutput, type AwaitedJob } from "../../http/streaming/whole-output.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES } from "../../../shared/chat-input.ts";
import { KIB } from "../../../shared/format-bytes.ts";
import { ignored, refused, requestObject } from "../../../shared/request-object.ts";

/** Maximum documents of a request: with the query, they are one job of 256 texts, the limit of embedding Cargos. */
const MAX_DOCUMENTS = 255;
/** Maximum bytes of the texts, which leaves 1 KiB of a job's input for the JSON around them. */
const MAX_TEXTS_BYTES = MAX_INPUT_BYTES - KIB;
const UNCUT = "texts are never truncated";

const textSchema = z.string().min(1, "must not be empty");
const documentSchema = z.union([textSchema, z.object({ text: textSchema })], {
  error: "must be a string, or an object with a `text`",
});

/** Body of a rerank request. Source: the rerank APIs of Cohere (v2), Jina and Voyage. */
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
  ...trustFields,
  priority: ignored("rerank requests have no priority"),
})
  .refine(({ query, documents }) => Buffer.byteLength(JSON.stringify([query, ...documents])) <= MAX_TEXTS_BYTES, {
    path: ["documents"],
    message: `must have at most ${MAX_TEXTS_BYTES} bytes as JSON, together with the query`,
  })
  .openapi("RerankRequest");
type RerankBody = z.infer<typeof rerankBodySchema>;

const rerankSchema = z
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
              "Score from the reranking Cargo, or (1 + cosine of the two vectors) / 2, from 0 to 1. Compare scores only within one response",
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

function documentTexts({ documents }: RerankBody): string[] {
  return documents.map((document) => (typeof document === "string" ? document : document.text));
}

/** Returns the similarity of two vectors: (1 + cosine) / 2, from 0 to 1; 0.5 if one of the vectors is zero. */
function similarityOf(a: readonly number[], b: readonly number[]): number {
  const product = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  const lengths = Math.hypot(...a) * Math.hypot(...b);
  const cosine = lengths === 0 ? 0 : product / lengths;
  return Math.max(0, Math.min(1, (1 + cosine) / 2));
}

/** Presents the documents with the highest scores. Documents with the same score keep their order. */
function presentResults(scores: readonly number[], body: RerankBody): z.infer<typeof rerankSchema>["results"] {
  const texts = documentTexts(body);
  const scored = scores.map((score, index) => ({ index, relevance_score: score }));
  const best = scored.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, body.top_n ?? undefined);
  if (body.return_documents !== true) return best;
  return best.map((result) => ({ ...result, document: { text: texts[result.index] ?? "" } }));
}

export const rerankRoutes = routeGroup("/rerank", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createReranking",
    is: "Rank documents by relevance to a query",
    about:
      "A reranking Cargo scores the documents, or an embedding Cargo compares their vectors with the query's. The query and all documents are one job. If the client disconnects, the job is cancelled. For Cohere's client, `/v2/rerank`, outside the API base, works too.",
    ...WAITS_FOR_JOBS,
    body: rerankBodySchema,
    responses: { 200: json(rerankSchema, "Indexes and scores of the documents, best first") },
  })((call) => runReranking(deps, requestContextOf(call), call.body));
});

export async function runReranking(
  deps: JobRunDeps,
  client: RequestContext,
  body: RerankBody,
): Promise<z.infer<typeof rerankSchema> | null> {
  const cargo = await findModelFor("rerank", deps.catalog, body.model, client.submitter.accountId);
  const method = taskOf(cargo) === "text-ranking" ? BY_RANKER : BY_VECTORS;
  const made = await runForOutput(deps, client, { slug: cargo.slug, ...method.jobOf(body) });
  if (made === null) return null;
  const scores = method.scoresOf(made.output, body.documents.length);
  if (scores?.length !== body.documents.length)
    throw new ServiceError("job_failed", "The Cargo's output does not have one result for each document");
  const { promptTokens } = made.usage;
  return {
    id: made.jobId,
    object: "list",
    model: body.model ?? cargo.slug,
    results: presentResults(scores, body),
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    meta: { tokens: { input_tokens: promptTokens, output_tokens: 0 } },
  };
}

interface RankingMethod {
  readonly jobOf: (body: RerankBody) => Omit<AwaitedJob, "slug">;
  /** Returns the scores from 0 to 1, in the order of the documents; undefined for an invalid output. */
  readonly scoresOf: (output: unknown, count: number) => readonly number[] | undefined;
}

/** Ranks with a model that reads the query together with each document. */
const BY_RANKER: RankingMethod = {
  jobOf: (body) => ({ input: { query: body.query, documents: documentTexts(body) } }),
  scoresOf: (output) => TEXT_TASK_OUTPUTS["text-ranking"].safeParse(output).data?.scores,
};

const BY_VECTORS: RankingMethod = {
  jobOf: (body) => ({ input: { input: [body.query, ...documentTexts(body)] }, fieldOf: fieldOfText }),
  scoresOf: (output, count) => {
    const [query, ...documents] = vectorsOf(output, count + 1) ?? [];
    return query && documents.map((vector) => similarityOf(query, vector));
  },
};

function fieldOfText(path: string): string {
  const [, number] = /^input\.(\d+)/.exec(path) ?? [];
  if (number === undefined) return "documents";
  return number === "0" ? "query" : `documents.${Number(number) - 1}`;
}
