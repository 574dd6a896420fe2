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
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { json, jsonOrEvents } from "../../http/schemas/responses.ts";

export const messageRoutes = routeGroup("/messages", { tag: "Chat", style: "anthropic" }, (routes, deps) => {
  routes.post("", {
    id: "createMessage",
    is: "Create a message",
    about:
      "Takes a chat in the format of Anthropic's Messages API, with the API key in `X-Api-Key` or `Authorization`. A message runs as a job, whose id is the message's id. If the client disconnects, the job is cancelled.",
    ...WAITS_FOR_JOBS,
    body: messageBodySchema,
    mayHaveImages: true,
    responses: {
      200: jsonOrEvents(
        messageSchema,
        messageEventSchema,
        "The message; with `stream`, its events as Server-Sent Events",
      ),
    },
  })(async (call) => {
    const { body } = call;
    const isStreamed = body.stream === true;
    const submission = { model: body.model, input: messageInputOf(body), isStreamed, fieldOf: messageFieldOf(body) };
    const chat = await awaitChat(deps, call, submission);
    if (chat === null) return null;
    const { id, slug: model } = chat.job.record;
    const { promptTokens } = chat.feed;
    const stops = body.stop_sequences ?? [];
    if (isStreamed) return streamChat(deps, call, chat, messageEvents({ id, model, promptTokens }, stops));
    const ending = doneOf(chat);
    return {
      id,
      type: "message" as const,
      role: "assistant" as const,
      model,
      content: blocksOf(assistantMessageOf(chat.feed)),
      ...stopOf(ending, stops),
      usage: messageUsage(ending.usage, ending.creditsUsedMicro),
    };
  });

  routes.post("/count_tokens", {
    id: "countMessageTokens",
    is: "Count the tokens of a message's prompt",
    about:
      "The count is exact and includes what the chat template adds. It runs as a chat job of one token on an Island, because only an Island has the model's tokenizer, and costs as much as a chat.",
    ...WAITS_FOR_JOBS,
    body: countTokensBodySchema,
    mayHaveImages: true,
    responses: { 200: json(countTokensSchema, "The number of tokens") },
  })(async (call) => {
    const { body } = call;
    const input = { ...promptOf(body), max_tokens: 1 };
    const submission = { model: body.model, input, isStreamed: false, fieldOf: messageFieldOf(body) };
    const chat = await awaitChat(deps, call, submission);
    return chat && { input_tokens: doneOf(chat).usage.promptTokens };
  });
});
