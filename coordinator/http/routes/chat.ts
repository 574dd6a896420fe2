import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { submitterOf } from "../../accounts/identity.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { findModel } from "../../catalog/find-model.ts";
import type { Feed } from "../../jobs/feed.ts";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { chatChunks, chatUsage } from "../streaming/chat-encoder.ts";
import { chatBodySchema, chatEventSchema, completionSchema, jobInputOf } from "../schemas/chat-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";
import { streamFeed } from "../streaming/stream-feed.ts";
import { cancelAbandoned, cancelWhenGone, failureOf, goneSignal, readyFeed } from "../streaming/waiting-client.ts";

const chatRoute = createRoute({
  operationId: "createChatCompletion",
  method: "post",
  path: `${API_BASE}/chat/completions`,
  summary: "Chat completion",
  description: "A chat is a job: its id is the completion's id. It is cancelled when the client disconnects.",
  request: jsonBody(chatBodySchema),
  responses: {
    200: {
      description: "The completion, or with `stream` its chunks as Server-Sent Events",
      content: { ...json(completionSchema, "").content, ...eventStream(chatEventSchema) },
    },
    ...failures(402, 404),
  },
});

export function serveChat(app: HttpApp, deps: HttpDeps): void {
  const { jobs, catalog, options, log } = deps;
  serveScoped(app, deps, "write", chatRoute, async ({ c, identity, body }) => {
    const { outgoing: response } = c.env;
    const cargo = await chatCargo(deps, body.model ?? catalog.defaultChatSlug, identity.accountId);
    // Before the submission: a chat that may not be streamed must not be paid for.
    if (body.stream === true) await c.get("limits").openStream(identity, response);
    const job = await jobs.submit({
      ...submitterOf(identity),
      slug: cargo.slug,
      input: jobInputOf(body),
      priority: 0,
      idempotency: null,
      waitLimitMs: options.chatWaitMs,
      isClientBound: true,
    });
    const gone = goneSignal(response);
    cancelWhenGone(job, gone, log);
    // No header is sent before there is an answer, so that a failure can still have its status.
    const isReady = ({ ending, hasOutput }: Feed): boolean => ending !== null || (body.stream === true && hasOutput);
    const feed = await readyFeed(job, isReady, gone, log);
    if (gone.aborted) return RESPONSE_ALREADY_SENT;
    if (feed.ending?.type === "error" && !(body.stream === true && feed.hasOutput)) throw failureOf(feed.ending);
    if (body.stream !== true) return c.json(completionOf(job.record, feed));
    const includeUsage = body.stream_options?.include_usage === true;
    // From here the relay watches the client.
    const encoder = chatChunks({ ...headOf(job.record), includeUsage });
    // Nobody can come back for the rest of a chat.
    return streamFeed(deps, { response, identity, feed, encoder, onCut: () => cancelAbandoned(job, log) });
  });
}

/** @throws {ServiceError} `cargo_not_found`, also for a Cargo that does not chat. */
async function chatCargo(
  { catalog }: Pick<HttpDeps, "catalog">,
  slug: string,
  accountId: string,
): Promise<CatalogEntry> {
  const cargo = await findModel(catalog, slug, accountId);
  if (cargo?.isChat === true) return cargo;
  throw new ServiceError("cargo_not_found", `There is no chat Cargo "${slug}"`);
}

function headOf(job: JobRecord) {
  return { jobId: job.id, createdS: Math.floor(job.createdAtMs / 1_000), model: job.slug };
}

/** @throws unless the feed ended in `done`. */
function completionOf(job: JobRecord, feed: Feed): z.infer<typeof completionSchema> {
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${job.id} has not ended in done`);
  const { jobId, createdS, model } = headOf(job);
  const message = assistantMessageOf(feed);
  return {
    id: jobId,
    object: "chat.completion",
    created: createdS,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: feed.ending.finishReason }],
    usage: chatUsage(feed.ending.usage),
  };
}
