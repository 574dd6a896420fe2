import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { vectorsOf } from "../schemas/embedding-schemas.ts";
import { presentReranking, rankedTexts, rerankBodySchema, rerankSchema } from "../schemas/rerank-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { failures, json, jsonBody } from "../schemas/responses.ts";
import { wholeOutput } from "../streaming/whole-output.ts";
import { embeddingCargo } from "./embeddings.ts";

const rerankRoute = createRoute({
  operationId: "createReranking",
  method: "post",
  path: `${API_BASE}/rerank`,
  summary: "Rank documents by how near they are to a query",
  description:
    "By the vectors of a Cargo for embeddings: one job for the query and all documents. Like a chat it waits for an Island and is cancelled when the client disconnects.",
  request: jsonBody(rerankBodySchema),
  responses: { 200: json(rerankSchema, "The documents' numbers and scores, best first"), ...failures(402, 404) },
});

export function serveRerank(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "write", rerankRoute, async ({ c, identity, body }) => {
    const { slug } = await embeddingCargo(deps, body.model, identity.accountId);
    const texts = rankedTexts(body);
    const client = { identity, response: c.env.outgoing };
    const made = await wholeOutput(deps, client, { slug, input: { input: texts }, fieldOf });
    if (made === null) return RESPONSE_ALREADY_SENT;
    const vectors = vectorsOf(made.output, texts.length);
    if (vectors === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a vector for each text");
    return c.json(presentReranking({ id: made.jobId, vectors }, body, made.usage));
  });
}

/** Text 0 of the job is the query. */
function fieldOf(path: string): string {
  const [, number] = /^input\.(\d+)/.exec(path) ?? [];
  if (number === undefined) return "documents";
  return number === "0" ? "query" : `documents.${Number(number) - 1}`;
}
