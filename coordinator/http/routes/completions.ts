import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createRoute, z } from "@hono/zod-openapi";
import { TEXT_COMPLETION_PARAMETERS } from "../openai/text-completion-parameters.ts";
import { checkParameters } from "../openai/parameters.ts";
import { awaitChat, doneOf, streamChat } from "../streaming/awaited-chat.ts";
import { chatUsage } from "../streaming/chat-encoder.ts";
import { textChunks } from "../streaming/text-completion-encoder.ts";
import {
  promptsOf,
  rawInputOf,
  textCompletionBodySchema,
  textCompletionSchema,
} from "../schemas/text-completion-schemas.ts";
import { streamErrorSchema } from "../schemas/chat-schemas.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { eventStream, failures, json, jsonBody } from "../schemas/responses.ts";

const completionRoute = createRoute({
  operationId: "createCompletion",
  method: "post",
  path: `${API_BASE}/completions`,
  summary: "Continue a text, as OpenAI's legacy completions do",
  description:
    "By a chat Cargo without its chat template, on Islands whose agent can do so. Each prompt is a job, one after the other; the first one's id is the completion's. They are cancelled when the client disconnects.",
  request: jsonBody(textCompletionBodySchema),
  responses: {
    200: {
      description: "The completion, or with `stream` its chunks as Server-Sent Events",
      content: {
        ...json(textCompletionSchema, "").content,
        ...eventStream(z.union([textCompletionSchema, streamErrorSchema, z.literal("[DONE]")])),
      },
    },
    ...failures(402, 404),
  },
});

export function serveCompletions(app: HttpApp, deps: HttpDeps): void {
  serveScoped(app, deps, "write", completionRoute, async ({ c, identity, body, given }) => {
    checkParameters(TEXT_COMPLETION_PARAMETERS, given);
    const client = { c, identity };
    const isStreamed = body.stream === true;
    const prompts = promptsOf(body);
    const chats = [];
    for (const prompt of prompts) {
      const order = { model: body.model, input: rawInputOf(prompt, body), isStreamed };
      // One after the other: an account's unfinished jobs are few.
      // oxlint-disable-next-line no-await-in-loop
      const chat = await awaitChat(deps, client, order);
      if (chat === null) return RESPONSE_ALREADY_SENT;
      chats.push({ ...chat, echo: body.echo === true ? prompt : "" });
    }
    const [first] = chats;
    if (first === undefined) throw new Error("A completion has a prompt");
    const { id, createdAtMs, slug: model } = first.job.record;
    const createdS = Math.floor(createdAtMs / 1_000);
    if (isStreamed) {
      const includeUsage = body.stream_options?.include_usage === true;
      return streamChat(deps, client, first, textChunks({ jobId: id, createdS, model, includeUsage }, first.echo));
    }
    const ends = chats.map((chat) => ({ text: chat.echo + chat.feed.text(), ...doneOf(chat) }));
    return c.json({
      id,
      object: "text_completion" as const,
      created: createdS,
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
      }),
    });
  });
}
