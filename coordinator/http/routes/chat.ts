import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import type { FeedItem, JobRecord } from "../../store/jobs/job-store.ts";
import { awaitChat, doneOf, endedChat, type AwaitedChat, type ChatOrder } from "../streaming/awaited-chat.ts";
import { waitingClientOf, type AnswerDeps, type WaitingClient } from "../streaming/waiting-client.ts";
import { chatChunks, chatUsage, completionHeadOf, NO_USAGE } from "../streaming/chat-encoder.ts";
import { streamChats } from "../streaming/several-chats.ts";
import {
  chatBodySchema,
  chatEventSchema,
  chatFieldOf,
  completionSchema,
  jobInputsOf,
} from "../schemas/chat-schemas.ts";
import { presentLogprobs } from "../schemas/present-logprobs.ts";
import { serveCompatible } from "../middleware/endpoint.ts";
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
    ...failures(402, 404, 409),
  },
});

export function serveChat(app: HttpApp, deps: HttpDeps): void {
  serveCompatible(app, deps, chatRoute, async (call) => {
    const { c, body } = call;
    if (body.stream !== true) {
      const completion = await answerChat(deps, waitingClientOf(call), body);
      return completion === null ? RESPONSE_ALREADY_SENT : c.json(completion);
    }
    const orders = ordersOf(body).map((order) => ({ ...order, isStreamed: true }));
    const [order] = orders;
    if (order === undefined) throw new Error("A chat has an answer");
    const first = await awaitChat(deps, call, order);
    if (first === null) return RESPONSE_ALREADY_SENT;
    const includeUsage = body.stream_options?.include_usage === true || body.usage?.include === true;
    const head = { ...completionHeadOf(first.job.record), includeUsage, usage: { ...NO_USAGE } };
    const encoderOf = (index: number) => chatChunks({ ...head, index, isLast: index === orders.length - 1 });
    return streamChats(deps, call, first, orders, encoderOf);
  });
}

function ordersOf(body: z.output<typeof chatBodySchema>): Omit<ChatOrder, "isStreamed">[] {
  const fieldOf = (path: string): string => chatFieldOf(body, path);
  return jobInputsOf(body).map((input) => ({ model: body.model, input, fieldOf }));
}

/** The whole answer, for whoever waits. Null when nobody does any more. @throws {ServiceError} as the endpoint */
export async function answerChat(deps: AnswerDeps, client: WaitingClient, body: z.output<typeof chatBodySchema>) {
  const chats: AwaitedChat[] = [];
  for (const order of ordersOf(body)) {
    // One after the other: an account's unfinished jobs are few.
    // oxlint-disable-next-line no-await-in-loop
    const chat = await endedChat(deps, client, order);
    if (chat === null) return null;
    chats.push(chat);
  }
  const [first] = chats;
  if (first === undefined) throw new Error("A chat has an answer");
  return completionOf(first.job.record, chats);
}

function reasoningTokensOf(items: readonly FeedItem[]): number {
  return items.reduce((sum, item) => sum + (item.type === "reasoning" ? item.count : 0), 0);
}

/** @param job of the first choice. @throws unless all have ended in `done`. */
function completionOf(job: JobRecord, chats: readonly AwaitedChat[]): z.infer<typeof completionSchema> {
  const { jobId, createdS, model } = completionHeadOf(job);
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
      costMicro: ends.reduce((sum, { creditsUsedMicro }) => sum + creditsUsedMicro, 0),
      reasoningTokens: chats.reduce((sum, { feed }) => sum + reasoningTokensOf(feed.items), 0),
    }),
  };
}
