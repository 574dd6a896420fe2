import { ServiceError } from "../../../shared/errors.ts";
import { taskOf, vectorsOf } from "../../../shared/text-task.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import {
  documentTexts,
  nearnessOf,
  presentReranking,
  rankerScoresOf,
  rerankBodySchema,
  rerankSchema,
  type RerankBody,
} from "./schemas.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { runForOutput, type AwaitedJob } from "../../http/streaming/whole-output.ts";

export const rerankRoutes = routeGroup("/rerank", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createReranking",
    is: "Rank documents by relevance to a query",
    about:
      "A reranking Cargo scores the documents, or an embedding Cargo compares their vectors with the query's. The query and all documents are one job. If the client disconnects, the job is cancelled. Also served at `/v2/rerank` of the host, for Cohere's client.",
    ...WAITS_FOR_JOBS,
    body: rerankBodySchema,
    responses: { 200: json(rerankSchema, "Indexes and scores of the documents, best first") },
  })((call) => answerReranking(deps, requestContextOf(call), call.body));
});

/**
 * Runs a reranking and returns the response. Null if the client has disconnected.
 * @throws {ServiceError} as the endpoint
 */
export async function answerReranking(deps: JobRunDeps, client: RequestContext, body: RerankBody) {
  const cargo = await findModelFor("rerank", deps.catalog, body.model, client.submitter.accountId);
  const way = taskOf(cargo) === "text-ranking" ? BY_RANKER : BY_VECTORS;
  const made = await runForOutput(deps, client, { slug: cargo.slug, ...way.jobOf(body) });
  if (made === null) return null;
  const scores = way.scoresOf(made.output, body.documents.length);
  if (scores === undefined)
    throw new ServiceError("job_failed", "The Cargo's output does not have one result for each document");
  return presentReranking({ id: made.jobId, scores }, { ...body, model: body.model ?? cargo.slug }, made.usage);
}

/** Method of a kind of Cargo to rank documents. */
interface WayToRank {
  readonly jobOf: (body: RerankBody) => Omit<AwaitedJob, "slug">;
  /** Returns scores from 0 to 1 in the order of the documents; undefined for an invalid output. */
  readonly scoresOf: (output: unknown, count: number) => readonly number[] | undefined;
}

/** Ranks by a model that reads the query with each document. */
const BY_RANKER: WayToRank = {
  jobOf: (body) => ({ input: { query: body.query, documents: documentTexts(body) } }),
  scoresOf: rankerScoresOf,
};

/** Ranks by the vectors of the query, which is the job's first text, and of the documents. */
const BY_VECTORS: WayToRank = {
  jobOf: (body) => ({ input: { input: [body.query, ...documentTexts(body)] }, fieldOf: fieldOfText }),
  scoresOf: (output, count) => {
    const [query, ...documents] = vectorsOf(output, count + 1) ?? [];
    return query && documents.map((vector) => nearnessOf(query, vector));
  },
};

function fieldOfText(path: string): string {
  const [, number] = /^input\.(\d+)/.exec(path) ?? [];
  if (number === undefined) return "documents";
  return number === "0" ? "query" : `documents.${Number(number) - 1}`;
}
