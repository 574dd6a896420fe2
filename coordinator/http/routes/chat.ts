import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import type { Feed } from "../../jobs/feed.ts";
import { FEED_START } from "../../jobs/feed-position.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { cancelQuietly, failureOf, goneSignal, noteWaiting } from "../streaming/awaited-job.ts";
import { chatChunks, chatUsage } from "../streaming/chat-encoder.ts";
import { chatBodySchema, chatEventSchema, completionSchema, jobInputOf } from "../schemas/chat-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { untilFeed } from "../streaming/feed-wait.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";
import { FeedRelay } from "../streaming/sse.ts";

const chatRoute = createRoute({
  operationId: "createChatCompletion",
  method: "post",
  path: `${API_BASE}/chat/completions`,
  summary: "Chat completion",
  description: "A chat is a job: its id is the completion's id. It is cancelled when the client leaves.",
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
  const { accounts, jobs, catalog, clock, options } = deps;
  serveScoped(app, deps, "write", chatRoute, async ({ c, identity, body }) => {
    const { outgoing: response } = c.env;
    const { accountId } = identity;
    const cargo = chatCargo(deps, body.model ?? catalog.defaultChatSlug, accountId);
    // Before there is a job: one that may not be streamed is not paid for.
    if (body.stream === true) c.get("limits").openStream(identity, response);
    const job = await jobs.submit({
      accountId,
      slug: cargo.slug,
      input: jobInputOf(body),
      priority: 0,
      idempotency: null,
      waitLimitMs: options.chatWaitMs,
    });
    const gone = goneSignal(response);
    gone.addEventListener("abort", () => cancelQuietly(deps, job));
    if (gone.aborted) cancelQuietly(deps, job);
    const feed = await jobs.openFeed(accountId, job.id);
    const waiting = noteWaiting(deps, accountId, () => job.id);
    try {
      // No header is sent before it is known that there is an answer, so that 503 and its like can still be given.
      await untilFeed(feed, ({ ending, hasOutput }) => ending !== null || (body.stream === true && hasOutput), gone);
    } finally {
      waiting.cancel();
    }
    if (gone.aborted) return RESPONSE_ALREADY_SENT;
    if (feed.ending?.type === "error" && !(body.stream === true && feed.hasOutput)) {
      throw failureOf(feed.ending, waiting.message());
    }
    if (body.stream !== true) return c.json(completionOf(job, feed));
    // From here the relay watches the client.
    void new FeedRelay({
      feed,
      after: FEED_START,
      encoder: chatChunks({ ...headOf(job), includeUsage: body.stream_options?.include_usage === true }),
      response,
      clock,
      heartbeatMs: options.heartbeatMs,
      mayRead: () => accounts.isStillValid(identity),
    });
    return RESPONSE_ALREADY_SENT;
  });
}

/** @throws {ServiceError} `cargo_not_found`, also for a Cargo that does not chat. */
function chatCargo({ catalog }: Pick<HttpDeps, "catalog">, slug: string, accountId: string): CatalogEntry {
  const cargo = catalog.find(slug, accountId);
  if (cargo?.isChat === true) return cargo;
  throw new ServiceError("cargo_not_found", `There is no chat Cargo "${slug}"`);
}

function headOf(job: JobRecord) {
  return { jobId: job.id, createdS: Math.floor(job.createdAtMs / 1_000), model: job.slug };
}

/** `feed` ended well. */
function completionOf(job: JobRecord, feed: Feed): z.infer<typeof completionSchema> {
  if (feed.ending?.type !== "done") throw new Error(`Feed of ${job.id} has not ended in done`);
  const { jobId, createdS, model } = headOf(job);
  const message = { role: "assistant" as const, content: feed.text() };
  return {
    id: jobId,
    object: "chat.completion",
    created: createdS,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: feed.ending.finishReason }],
    usage: chatUsage(feed.ending.usage),
  };
}
