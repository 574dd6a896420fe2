import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import type { FeedItem, JobRecord } from "../../store/job-store.ts";
import { CHAT_PARAMETERS } from "../openai/chat-parameters.ts";
import { checkParameters } from "../openai/parameters.ts";
import { awaitChat, doneOf, type AwaitedChat } from "../streaming/awaited-chat.ts";
import { chatChunks, chatUsage, NO_USAGE } from "../streaming/chat-encoder.ts";
import { streamChats } from "../streaming/several-chats.ts";
import { chatBodySchema, chatEventSchema, completionSchema, jobInputsOf } from "../schemas/chat-schemas.ts";
import { presentLogprobs } from "../schemas/present-logprobs.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";

const chatRoute = createRoute({
  operationId: "createChatCompletion",
  method: "post",
  path: `${API_BASE}/chat/completions`,
  summary: "Chat completion",
  description:
    "A chat is a job: its id is the completion's id. It is cancelled when the client disconnects. With `n`, each answer is a job, one after the other, also on a stream; the first one's id is the completion's.",
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
    const orders = jobInputsOf(body).map((input) => ({ model: body.model, input, isStreamed }));
    const chats: AwaitedChat[] = [];
    // A stream goes on to the others by itself.
    for (const order of isStreamed ? orders.slice(0, 1) : orders) {
      // One after the other: an account's unfinished jobs are few.
      // oxlint-disable-next-line no-await-in-loop
      const chat = await awaitChat(deps, client, order);
      if (chat === null) return RESPONSE_ALREADY_SENT;
      chats.push(chat);
    }
    const [first] = chats;
    if (first === undefined) throw new Error("A chat has an answer");
    if (!isStreamed) return c.json(completionOf(first.job.record, chats));
    const includeUsage = body.stream_options?.include_usage === true;
    const head = { ...headOf(first.job.record), includeUsage, usage: { ...NO_USAGE } };
    const encoderOf = (index: number) => chatChunks({ ...head, index, isLast: index === orders.length - 1 });
    return streamChats(deps, client, first, orders, encoderOf);
  });
}

function reasoningTokensOf(items: readonly FeedItem[]): number {
  return items.reduce((sum, item) => sum + (item.type === "reasoning" ? item.count : 0), 0);
}

function headOf(job: JobRecord) {
  return { jobId: job.id, createdS: Math.floor(job.createdAtMs / 1_000), model: job.slug };
}

/** @param job of the first choice. @throws unless all have ended in `done`. */
function completionOf(job: JobRecord, chats: readonly AwaitedChat[]): z.infer<typeof completionSchema> {
  const { jobId, createdS, model } = headOf(job);
  const ends = chats.map((chat) => {
    const { feed } = chat;
    return { message: assistantMessageOf(feed), logprobs: presentLogprobs(feed.items), ...doneOf(chat) };
  });
  return {
    id: jobId,
    object: "chat.completion",
    created: createdS,
    model,
    choices: ends.map(({ message, logprobs, finishReason }, index) => {
      return { index, message, logprobs, finish_reason: finishReason };
    }),
    usage: chatUsage({
      promptTokens: ends.reduce((sum, { usage }) => sum + usage.promptTokens, 0),
      completionTokens: ends.reduce((sum, { usage }) => sum + usage.completionTokens, 0),
      reasoningTokens: chats.reduce((sum, { feed }) => sum + reasoningTokensOf(feed.items), 0),
    }),
  };
}
