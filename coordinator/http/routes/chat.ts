import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import type { Feed } from "../../jobs/feed.ts";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import type { JobRecord } from "../../store/job-store.ts";
import { CHAT_PARAMETERS } from "../openai/chat-parameters.ts";
import { checkParameters } from "../openai/parameters.ts";
import { awaitChat, streamChat } from "../streaming/awaited-chat.ts";
import { chatChunks, chatUsage } from "../streaming/chat-encoder.ts";
import { chatBodySchema, chatEventSchema, completionSchema, jobInputOf } from "../schemas/chat-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";

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
  serveScoped(app, deps, "write", chatRoute, async ({ c, identity, body, given }) => {
    checkParameters(CHAT_PARAMETERS, given);
    const client = { c, identity };
    const isStreamed = body.stream === true;
    const chat = await awaitChat(deps, client, { model: body.model, input: jobInputOf(body), isStreamed });
    if (chat === null) return RESPONSE_ALREADY_SENT;
    const { record } = chat.job;
    if (!isStreamed) return c.json(completionOf(record, chat.feed));
    const includeUsage = body.stream_options?.include_usage === true;
    return streamChat(deps, client, chat, chatChunks({ ...headOf(record), includeUsage }));
  });
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
