import { setImmediate as nextTick } from "node:timers/promises";
import type { z } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { vectorsOf } from "../../../shared/text-task.ts";
import { findModelFor } from "../../catalog/find-model.ts";
import {
  embeddingsBodySchema,
  embeddingsSchema,
  jobsOfTexts,
  presentEmbeddings,
  type EmbeddingsBody,
} from "./schemas.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json } from "../../http/schemas/responses.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { runForOutput } from "../../http/streaming/whole-output.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import { LARGE_RESPONSE_CHARS } from "../../http/middleware/json-response.ts";

const VECTORS_IN_A_TURN = 64;

export const embeddingRoutes = routeGroup("/embeddings", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createEmbeddings",
    is: "Create embeddings",
    about: "Up to 256 texts are one job. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: embeddingsBodySchema,
    responses: { 200: json(embeddingsSchema, "One vector for each text, in the same order") },
  })(async (call) => {
    const { c, body } = call;
    const embeddings = await answerEmbeddings(deps, requestContextOf(call), body);
    if (embeddings === null) return null;
    const text = await textOf(embeddings);
    if (text.length > LARGE_RESPONSE_CHARS) c.get("limits").holdStream(c.env.outgoing, text.length);
    return c.body(text, 200, { "Content-Type": "application/json" });
  });
});

/** Yields to other requests between parts, because two million numbers take a second. */
async function textOf({ object, data, ...rest }: z.infer<typeof embeddingsSchema>): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < data.length; from += VECTORS_IN_A_TURN) {
    const vectors = data.slice(from, from + VECTORS_IN_A_TURN);
    parts.push(vectors.map((vector) => JSON.stringify(vector)).join(","));
    await nextTick();
  }
  const [head, tail] = [JSON.stringify({ object }).slice(0, -1), JSON.stringify(rest).slice(1)];
  return `${head},"data":[${parts.join(",")}],${tail}`;
}

/**
 * Checks the vectors themselves, because the catalog does not know their length.
 * @throws {ValidationError}
 */
function assertDimensions([vector]: readonly (readonly number[])[], asked: number | null | undefined): void {
  if (asked == null || vector === undefined || vector.length === asked) return;
  const message = `must be ${vector.length}, this model's number of dimensions, or omitted; got ${asked}`;
  throw new ValidationError([{ path: "dimensions", message }]);
}

/**
 * Runs an embeddings request and returns the response. Null if the client has disconnected.
 * @throws {ServiceError} as the endpoint
 */
export async function answerEmbeddings(deps: JobRunDeps, client: RequestContext, body: EmbeddingsBody) {
  const { slug } = await findModelFor("embedding", deps.catalog, body.model, client.submitter.accountId);
  const made = await mapWithConcurrency(
    jobsOfTexts(body.input),
    MAX_CONCURRENCY,
    client.signal,
    async ({ first, texts }, _, signal) => {
      const fieldOf = (path: string): string =>
        path.replace(/^input\.(\d+)/, (__, at) => `input.${first + Number(at)}`);
      const job = await runForOutput(deps, { ...client, signal }, { slug, input: { input: [...texts] }, fieldOf });
      if (job === null) return null;
      const vectors = vectorsOf(job.output, texts.length);
      if (vectors === undefined)
        throw new ServiceError("job_failed", "The Cargo's output does not have one vector for each text");
      assertDimensions(vectors, body.dimensions);
      return { vectors, tokens: job.usage.promptTokens };
    },
  );
  if (made === null) return null;
  const tokens = made.reduce((sum, job) => sum + job.tokens, 0);
  const vectors = made.flatMap((job) => job.vectors);
  return presentEmbeddings(vectors, { ...body, model: body.model ?? slug }, tokens);
}
