import type { z } from "@hono/zod-openapi";
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
import { routeGroup } from "../../http/route-group.ts";
import { jsonOrEvents } from "../../http/schemas/responses.ts";

export const completionRoutes = routeGroup("/completions", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createCompletion",
    is: "Continue a text, as OpenAI's legacy completions do",
    about:
      "By a chat Cargo without its chat template, on Islands whose agent can do so. Each prompt is a job, four at once; the first one's id is the completion's. They are cancelled when the client disconnects.",
    access: "write",
    isCompatible: true,
    body: textCompletionBodySchema,
    answers: {
      200: jsonOrEvents(
        textCompletionSchema,
        textCompletionEventSchema,
        "The completion, or with `stream` its chunks as Server-Sent Events",
      ),
    },
    fails: [402, 404, 409],
  })(async (call) => {
    const { body } = call;
    if (body.stream !== true) return answerCompletion(deps, waitingClientOf(call), body);
    const [prompt = ""] = promptsOf(body);
    const order = { model: body.model, input: rawInputOf(prompt, body), isStreamed: true };
    const chat = await awaitChat(deps, call, order);
    if (chat === null) return null;
    const includeUsage = body.stream_options?.include_usage === true;
    const head = { ...completionHeadOf(chat.job.record), includeUsage };
    return streamChat(deps, call, chat, textChunks(head, echoOf(prompt, body)));
  });
});

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
