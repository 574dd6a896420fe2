import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, type z } from "@hono/zod-openapi";
import { awaitChat, doneOf, endedChat, streamChat } from "../../http/streaming/awaited-chat.ts";
import { inTurns, MOST_AT_ONCE } from "../../http/streaming/in-turns.ts";
import { waitingClientOf, type AnswerDeps, type WaitingClient } from "../../http/streaming/waiting-client.ts";
import { chatUsage, completionHeadOf } from "../../http/streaming/chat-encoder.ts";
import { textChunks } from "./encoder.ts";
import {
  promptsOf,
  rawInputOf,
  textCompletionBodySchema,
  textCompletionEventSchema,
  textCompletionSchema,
} from "./schemas.ts";
import { serveCompatible } from "../../http/middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../../http/http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../../http/schemas/responses.ts";

const completionRoute = createRoute({
  operationId: "createCompletion",
  method: "post",
  path: `${API_BASE}/completions`,
  summary: "Continue a text, as OpenAI's legacy completions do",
  description:
    "By a chat Cargo without its chat template, on Islands whose agent can do so. Each prompt is a job, four at once; the first one's id is the completion's. They are cancelled when the client disconnects.",
  request: jsonBody(textCompletionBodySchema),
  responses: {
    200: {
      description: "The completion, or with `stream` its chunks as Server-Sent Events",
      content: {
        ...json(textCompletionSchema, "").content,
        ...eventStream(textCompletionEventSchema),
      },
    },
    ...failures(402, 404, 409),
  },
});

export function serveCompletions(app: HttpApp, deps: HttpDeps): void {
  serveCompatible(app, deps, completionRoute, async (call) => {
    const { c, body } = call;
    if (body.stream !== true) {
      const completion = await answerCompletion(deps, waitingClientOf(call), body);
      return completion === null ? RESPONSE_ALREADY_SENT : c.json(completion);
    }
    const [prompt = ""] = promptsOf(body);
    const order = { model: body.model, input: rawInputOf(prompt, body), isStreamed: true };
    const chat = await awaitChat(deps, call, order);
    if (chat === null) return RESPONSE_ALREADY_SENT;
    const includeUsage = body.stream_options?.include_usage === true;
    return streamChat(
      deps,
      call,
      chat,
      textChunks({ ...completionHeadOf(chat.job.record), includeUsage }, echoOf(prompt, body)),
    );
  });
}

type Body = z.output<typeof textCompletionBodySchema>;

/** The whole answer, for whoever waits. Null when nobody does any more. @throws {ServiceError} as the endpoint */
export async function answerCompletion(deps: AnswerDeps, client: WaitingClient, body: Body) {
  const { submitter, gone } = client;
  const chats = await inTurns(promptsOf(body), MOST_AT_ONCE, gone, async (prompt, _index, signal) => {
    const waiting = { submitter, gone: signal };
    const chat = await endedChat(deps, waiting, { model: body.model, input: rawInputOf(prompt, body) });
    return chat === null ? null : { ...chat, echo: echoOf(prompt, body) };
  });
  if (chats === null) return null;
  const [first] = chats;
  if (first === undefined) throw new Error("A completion has a prompt");
  const { jobId: id, createdS: created, model } = completionHeadOf(first.job.record);
  const ends = chats.map((chat) => ({ text: chat.echo + chat.feed.text(), ...doneOf(chat) }));
  return {
    id,
    object: "text_completion" as const,
    created,
    model,
    choices: ends.map(({ text, finishReason }, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: finishReason,
    })),
    usage: chatUsage({
      promptTokens: ends.reduce((sum, { usage }) => sum + usage.promptTokens, 0),
      completionTokens: ends.reduce((sum, { usage }) => sum + usage.completionTokens, 0),
      costMicro: ends.reduce((sum, { creditsUsedMicro }) => sum + creditsUsedMicro, 0),
    }),
  };
}

function echoOf(prompt: string, body: Body): string {
  return body.echo === true ? prompt : "";
}
