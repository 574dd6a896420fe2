import { awaitChat, doneOf, runChat, streamChat } from "../../http/streaming/awaited-chat.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import type { FeedEnding } from "../../jobs/feed.ts";
import {
  addUsage,
  chatUsage,
  completionHeadOf,
  CUTS,
  errorLine,
  NO_USAGE,
  type ChatStreamHead,
} from "../../http/streaming/chat-encoder.ts";
import type { FeedEncoder } from "../../http/streaming/sse.ts";
import {
  promptsOf,
  rawInputOf,
  textCompletionBodySchema,
  textCompletionEventSchema,
  textCompletionSchema,
  type TextCompletionBody,
} from "./schemas.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { jsonOrEvents } from "../../http/schemas/responses.ts";

export const completionRoutes = routeGroup("/completions", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("", {
    id: "createCompletion",
    is: "Create a text completion (legacy)",
    about:
      "A chat Cargo continues each prompt without its chat template, on Islands whose agent supports this. Each prompt is a job, and four run at once; the completion's id is the first job's. If the client disconnects, the jobs are cancelled.",
    ...WAITS_FOR_JOBS,
    body: textCompletionBodySchema,
    responses: {
      200: jsonOrEvents(
        textCompletionSchema,
        textCompletionEventSchema,
        "The completion, or with `stream` its chunks as Server-Sent Events",
      ),
    },
  })(async (call) => {
    const { body } = call;
    if (body.stream !== true) return answerCompletion(deps, requestContextOf(call), body);
    const [prompt = ""] = promptsOf(body);
    const order = { model: body.model, input: rawInputOf(prompt, body), isStreamed: true };
    const chat = await awaitChat(deps, call, order);
    if (chat === null) return null;
    const includeUsage = body.stream_options?.include_usage === true;
    const head = { ...completionHeadOf(chat.job.record), includeUsage };
    return streamChat(deps, call, chat, textChunks(head, echoOf(prompt, body)));
  });
});

/**
 * Runs a completion and returns the response. Null if the client has disconnected.
 * @throws {ServiceError} as the endpoint
 */
export async function answerCompletion(deps: JobRunDeps, client: RequestContext, body: TextCompletionBody) {
  const { submitter, signal: gone } = client;
  const chats = await mapWithConcurrency(promptsOf(body), MAX_CONCURRENCY, gone, async (prompt, _index, signal) => {
    const waiting = { submitter, signal };
    const chat = await runChat(deps, waiting, { model: body.model, input: rawInputOf(prompt, body) });
    return chat === null ? null : { ...chat, echo: echoOf(prompt, body) };
  });
  if (chats === null) return null;
  const [first] = chats;
  if (first === undefined) throw new Error("A completion must have at least one prompt");
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
    usage: usageOf(ends),
  };
}

function usageOf(ends: readonly (FeedEnding & { type: "done" })[]) {
  const usage = { ...NO_USAGE };
  for (const end of ends) addUsage(usage, end);
  return chatUsage(usage);
}

function echoOf(prompt: string, body: TextCompletionBody): string {
  return body.echo === true ? prompt : "";
}

/**
 * Encodes the chunks of a legacy completion: text, finish reason, usage if requested, [DONE]. Errors are as in chats.
 * @param echo Text of the first chunk.
 */
function textChunks({ jobId, createdS, model, includeUsage }: ChatStreamHead, echo: string): FeedEncoder {
  const head = `data: {"id":${JSON.stringify(jobId)},"object":"text_completion","created":${createdS},"model":${JSON.stringify(model)}`;
  const chunk = (text: string, finishReason: string): string =>
    `${head},"choices":[{"index":0,"text":${JSON.stringify(text)},"logprobs":null,"finish_reason":${finishReason}}]}\n\n`;
  return {
    prologue: echo === "" ? "" : chunk(echo, "null"),
    item: (item) => (item.type === "token" ? chunk(item.content, "null") : ""),
    ending(ending) {
      if (ending.type === "error") return errorLine(ending);
      const used = usageOf([ending]);
      const usage = includeUsage ? `${head},"choices":[],"usage":${JSON.stringify(used)}}\n\n` : "";
      return `${chunk("", JSON.stringify(ending.finishReason))}${usage}data: [DONE]\n\n`;
    },
    cut: (because) => errorLine(CUTS[because]),
  };
}
