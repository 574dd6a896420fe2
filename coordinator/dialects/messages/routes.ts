import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute } from "@hono/zod-openapi";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import { awaitChat, doneOf, streamChat } from "../../http/streaming/awaited-chat.ts";
import { messageEvents } from "./encoder.ts";
import {
  blocksOf,
  countTokensBodySchema,
  countTokensSchema,
  messageBodySchema,
  messageEventSchema,
  messageFieldOf,
  messageInputOf,
  messageSchema,
  messageUsage,
  promptOf,
  stopOf,
} from "./schemas.ts";
import { serveCompatible } from "../../http/middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../../http/http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../../http/schemas/responses.ts";

const messageRoute = createRoute({
  operationId: "createMessage",
  method: "post",
  path: `${API_BASE}/messages`,
  summary: "A message, as Anthropic's API has it",
  description:
    "A chat in the shape that Anthropic's clients speak, with an API key in `Authorization` or `X-Api-Key`. Also at `/v1/messages`. A message is a job: its id is the message's id. It is cancelled when the client disconnects.",
  request: jsonBody(messageBodySchema),
  responses: {
    200: {
      description: "The message, or with `stream` its events as Server-Sent Events",
      content: { ...json(messageSchema, "").content, ...eventStream(messageEventSchema) },
    },
    ...failures(402, 404, 409),
  },
});

const countRoute = createRoute({
  operationId: "countMessageTokens",
  method: "post",
  path: `${API_BASE}/messages/count_tokens`,
  summary: "Count the tokens of a message's prompt",
  description:
    "Exact, with what the chat template adds: a chat job that makes one token on an Island, with the price of a chat.",
  request: jsonBody(countTokensBodySchema),
  responses: { 200: json(countTokensSchema, "The tokens"), ...failures(402, 404, 409) },
});

export function serveMessages(app: HttpApp, deps: HttpDeps): void {
  serveCompatible(app, deps, messageRoute, async (call) => {
    const { c, body } = call;
    const isStreamed = body.stream === true;
    const fieldOf = (path: string): string => messageFieldOf(body, path);
    const order = { model: body.model, input: messageInputOf(body), isStreamed, fieldOf };
    const chat = await awaitChat(deps, call, order);
    if (chat === null) return RESPONSE_ALREADY_SENT;
    const { id, slug: model } = chat.job.record;
    const { promptTokens } = chat.feed;
    const stops = body.stop_sequences ?? [];
    if (isStreamed) return streamChat(deps, call, chat, messageEvents({ id, model, promptTokens }, stops));
    const ending = doneOf(chat);
    return c.json({
      id,
      type: "message" as const,
      role: "assistant" as const,
      model,
      content: blocksOf(assistantMessageOf(chat.feed)),
      ...stopOf(ending, stops),
      usage: messageUsage(ending.usage, ending.creditsUsedMicro),
    });
  });
  serveCompatible(app, deps, countRoute, async (call) => {
    const { c, body } = call;
    const input = { ...promptOf(body), max_tokens: 1 };
    const fieldOf = (path: string): string => messageFieldOf(body, path);
    const order = { model: body.model, input, isStreamed: false, fieldOf };
    const chat = await awaitChat(deps, call, order);
    if (chat === null) return RESPONSE_ALREADY_SENT;
    return c.json({ input_tokens: doneOf(chat).usage.promptTokens });
  });
}
