import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { taskOf } from "../../../shared/text-task.ts";
import { submitterOf } from "../../accounts/identity.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { JobHandle, SubmitRequest } from "../../jobs/job-service.ts";
import { embeddingsBodySchema, embeddingsSchema, presentEmbeddings, vectorsOf } from "../schemas/embedding-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { failures, json, jsonBody } from "../schemas/responses.ts";
import { cancelWhenGone, failureOf, goneSignal, readyFeed } from "../streaming/waiting-client.ts";
import { LARGE_ANSWER_CHARS } from "../middleware/json-answer.ts";
import { LargeJson } from "../../store/large-json.ts";

/** Field of a feature-extraction job's input, and the field of the request that it comes from. */
const JOB_FIELD = "input.input";
const BODY_FIELD = "input";

const embeddingsRoute = createRoute({
  operationId: "createEmbeddings",
  method: "post",
  path: `${API_BASE}/embeddings`,
  summary: "Embeddings of texts, as OpenAI has them",
  description:
    "One job for all texts. Like a chat it waits for an Island and is cancelled when the client disconnects.",
  request: jsonBody(embeddingsBodySchema),
  responses: { 200: json(embeddingsSchema, "One vector for each text, in the same order"), ...failures(402, 404) },
});

export function serveEmbeddings(app: HttpApp, deps: HttpDeps): void {
  const { options, log } = deps;
  serveScoped(app, deps, "write", embeddingsRoute, async ({ c, identity, body }) => {
    const { slug } = await embeddingCargo(deps, body.model, identity.accountId);
    const texts = typeof body.input === "string" ? [body.input] : body.input;
    const job = await submit(deps, {
      ...submitterOf(identity),
      slug,
      input: { input: texts },
      priority: 0,
      idempotency: null,
      waitLimitMs: options.chatWaitMs,
      isClientBound: true,
    });
    const gone = goneSignal(c.env.outgoing);
    cancelWhenGone(job, gone, log);
    const { ending } = await readyFeed(job, (feed) => feed.ending !== null, gone, log);
    if (gone.aborted || ending === null) return RESPONSE_ALREADY_SENT;
    if (ending.type === "error") throw failureOf(ending);
    const output = ending.output instanceof LargeJson ? await ending.output.value() : ending.output;
    const vectors = vectorsOf(output, texts.length);
    if (vectors === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a vector for each text");
    const text = JSON.stringify(presentEmbeddings(vectors, body, ending.usage));
    if (text.length > LARGE_ANSWER_CHARS) c.get("limits").holdStream(c.env.outgoing, text.length);
    return c.body(text, 200, { "Content-Type": "application/json" });
  });
}

/** @throws {ServiceError} `cargo_not_found`, also for a Cargo that makes no embeddings. */
async function embeddingCargo(
  { catalog }: Pick<HttpDeps, "catalog">,
  slug: string,
  accountId: string,
): Promise<CatalogEntry> {
  const cargo = catalog.find(slug, accountId) ?? (await catalog.seek(slug, accountId));
  if (cargo !== undefined && taskOf(cargo) === "feature-extraction") return cargo;
  throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}" for embeddings`);
}

/** Errors of the Cargo's own schema name the field as the client sent it. */
async function submit({ jobs }: Pick<HttpDeps, "jobs">, request: SubmitRequest): Promise<JobHandle> {
  try {
    return await jobs.submit(request);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.details.map(({ path, message }) => ({ path: path.replace(JOB_FIELD, BODY_FIELD), message })),
    );
  }
}
