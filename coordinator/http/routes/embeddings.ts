import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute } from "@hono/zod-openapi";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { SubmitRequest } from "../../jobs/job-service.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { cancelQuietly, failureOf, goneSignal, noteWaiting } from "../streaming/awaited-job.ts";
import { embeddingsBodySchema, embeddingsSchema, presentEmbeddings, vectorsOf } from "../schemas/embedding-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { untilFeed } from "../streaming/feed-wait.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { failures, json, jsonBody } from "../schemas/responses.ts";

/** Field of a feature-extraction job's input, and the one that it comes from. */
const JOB_FIELD = "input.input";
const BODY_FIELD = "input";

const embeddingsRoute = createRoute({
  operationId: "createEmbeddings",
  method: "post",
  path: `${API_BASE}/embeddings`,
  summary: "Embeddings of texts, in the shape of OpenAI's",
  description: "One job for all texts. It waits for an Island as a chat does, and is cancelled when the client leaves.",
  request: jsonBody(embeddingsBodySchema),
  responses: { 200: json(embeddingsSchema, "A vector for each text, in their order"), ...failures(402, 404) },
});

export function serveEmbeddings(app: HttpApp, deps: HttpDeps): void {
  const { jobs, options } = deps;
  serveScoped(app, deps, "write", embeddingsRoute, async ({ c, identity, body }) => {
    const { accountId } = identity;
    const { slug } = embeddingCargo(deps, body.model, accountId);
    const texts = typeof body.input === "string" ? [body.input] : body.input;
    const job = await submit(deps, {
      accountId,
      slug,
      input: { input: texts },
      priority: 0,
      idempotency: null,
      waitLimitMs: options.chatWaitMs,
    });
    const gone = goneSignal(c.env.outgoing);
    gone.addEventListener("abort", () => cancelQuietly(deps, job));
    if (gone.aborted) cancelQuietly(deps, job);
    const feed = await jobs.openFeed(accountId, job.id);
    const waiting = noteWaiting(deps, accountId, () => job.id);
    await untilFeed(feed, ({ ending }) => ending !== null, gone);
    waiting.cancel();
    const { ending } = feed;
    if (gone.aborted || ending === null) return RESPONSE_ALREADY_SENT;
    if (ending.type === "error") throw failureOf(ending, waiting.message());
    const vectors = vectorsOf(ending.output, texts.length);
    if (vectors === undefined) throw new ServiceError("job_failed", "The Cargo's output is not a vector for each text");
    return c.json(presentEmbeddings(vectors, body, ending.usage));
  });
}

/** @throws {ServiceError} `cargo_not_found`, also for a Cargo that makes no embeddings. */
function embeddingCargo({ catalog }: Pick<HttpDeps, "catalog">, slug: string, accountId: string): CatalogEntry {
  const cargo = catalog.find(slug, accountId);
  if (cargo?.runtimeType === "onnx" && cargo.onnxTaskType === "feature-extraction") return cargo;
  throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}" for embeddings`);
}

/** What the Cargo's own schema refuses is told under the name that the client gave it. */
async function submit({ jobs }: Pick<HttpDeps, "jobs">, request: SubmitRequest): Promise<JobRecord> {
  try {
    return await jobs.submit(request);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.details.map(({ path, message }) => ({ path: path.replace(JOB_FIELD, BODY_FIELD), message })),
    );
  }
}
