import { awaitChat, doneOf, runChat, streamChat } from "../../http/streaming/awaited-chat.ts";
import { mapWithConcurrency, MAX_CONCURRENCY } from "../../http/streaming/map-with-concurrency.ts";
import { requestContextOf, type JobRunDeps, type RequestContext } from "../../http/streaming/request-context.ts";
import type { FeedEnding } from "../../jobs/feed.ts";
import {
  addUsage,
  chatUsage,
  completionHeadOf,
  CUT_ERRORS,
  errorLine,
  NO_USAGE,
  type ChatStreamHead,
} from "../../http/streaming/chat-encoder.ts";
import type { FeedEncoder } from "../../http/streaming/sse.ts";
import { routeGroup, WAITS_FOR_JOBS } from "../../http/route-group.ts";
import { jsonOrEvents } from "../../http/schemas/responses.ts";
import { z } from "@hono/zod-openapi";
import { MAX_REQUESTED_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { OPENAI_LABEL, refused, requestObject } from "../../../shared/request-object.ts";
import { streamErrorSchema, streamOptionsSchema } from "../../http/schemas/chat-schemas.ts";
import { givenFieldsOf } from "../../http/schemas/given-fields.ts";
import { trustFields } from "../../http/schemas/trust-fields.ts";
import type { JobInput } from "../../store/jobs/job-store.ts";
import { costSchema } from "../../http/schemas/wire-units.ts";

const MAX_PROMPTS = 16;
/** Default of `max_tokens`. Source: OpenAI's API. */
const DEFAULT_TOKENS = 16;

const promptSchema = z.string().min(1, "must not be empty");
const { response_format: _, max_tokens: __, ...sampling } = samplingFields;
const ONE_CHOICE = refused("each prompt gets one choice", [1]);

/** Body of a legacy text completion. Source: OpenAI's API. */
export const textCompletionBodySchema = requestObject({
  model: z.string().min(1).describe("Slug or alias of a chat Cargo"),
  prompt: z
    .union([promptSchema, z.array(promptSchema).min(1).max(MAX_PROMPTS)], {
      error: `must be a string, or a list of 1 to ${MAX_PROMPTS} strings; token ids are not supported`,
    })
    .describe(
      "Text that the model continues without its chat template. Each text of a list is a separate job, and four run at once. Lists of token ids are refused",
    ),
  max_tokens: z
    .int()
    .min(1)
    .max(MAX_REQUESTED_TOKENS)
    .nullish()
    .describe(`Maximum number of generated tokens, lowered to what the Cargo can generate. Default: ${DEFAULT_TOKENS}`),
  ...sampling,
  echo: z.boolean().nullish().describe("Whether each text begins with its prompt"),
  stream: z.boolean().nullish().describe("Whether the response is a stream; allowed only with one prompt"),
  stream_options: streamOptionsSchema.nullish(),
  suffix: refused("no runtime supports fill-in-the-middle", [""]),
  n: ONE_CHOICE,
  best_of: ONE_CHOICE,
  logprobs: refused("use `POST /chat/completions` or `POST /responses` for log probabilities"),
  user: OPENAI_LABEL,
  ...trustFields,
})
  .refine(({ stream, prompt }) => stream !== true || typeof prompt === "string" || prompt.length === 1, {
    message: "requires a single prompt; send the others in separate requests",
    path: ["stream"],
  })
  .openapi("TextCompletionRequest");
type TextCompletionBody = z.infer<typeof textCompletionBodySchema>;

const usageSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: costSchema,
});
const choiceSchema = z.object({
  index: z.int(),
  text: z.string(),
  logprobs: z.null(),
  finish_reason: z.enum(FINISH_REASONS).nullable(),
});

/** A text completion, or a chunk of a streamed one. */
const textCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal("text_completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choiceSchema),
    usage: usageSchema.optional().describe("Usage; in a stream only in the last chunk, and only if requested"),
  })
  .openapi("TextCompletion");

const textCompletionEventSchema = z
  .union([
    textCompletionSchema,
    streamErrorSchema,
    z.literal("[DONE]").describe("Literal text, not JSON, that follows a complete completion"),
  ])
  .openapi("TextCompletionEvent");

function promptsOf({ prompt }: TextCompletionBody): readonly string[] {
  return typeof prompt === "string" ? [prompt] : prompt;
}

/** Returns the input of the job of one prompt, without fields that are `null` or not given. */
function rawInputOf(prompt: string, body: TextCompletionBody): JobInput {
  const given = givenFieldsOf(body, sampling);
  return { prompt, raw: true, ...given, max_tokens: body.max_tokens ?? DEFAULT_TOKENS };
}

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
        "The completion; with `stream`, its chunks as Server-Sent Events",
      ),
    },
  })(async (call) => {
    const { body } = call;
    if (body.stream !== true) return runCompletion(deps, requestContextOf(call), body);
    const [prompt = ""] = promptsOf(body);
    const chat = await awaitChat(deps, call, { model: body.model, input: rawInputOf(prompt, body), isStreamed: true });
    if (chat === null) return null;
    const includeUsage = body.stream_options?.include_usage === true;
    const head = { ...completionHeadOf(chat.job.record), includeUsage };
    return streamChat(deps, call, chat, textChunks(head, echoOf(prompt, body)));
  });
});

export async function runCompletion(
  deps: JobRunDeps,
  { submitter, signal: clientSignal }: RequestContext,
  body: TextCompletionBody,
): Promise<z.infer<typeof textCompletionSchema> | null> {
  const chats = await mapWithConcurrency(
    promptsOf(body),
    MAX_CONCURRENCY,
    clientSignal,
    async (prompt, _index, signal) => {
      const client = { submitter, signal };
      const chat = await runChat(deps, client, { model: body.model, input: rawInputOf(prompt, body) });
      return chat && { ...chat, echo: echoOf(prompt, body) };
    },
  );
  if (chats === null) return null;
  const [first] = chats;
  if (first === undefined) throw new Error("A completion must have at least one prompt");
  const { jobId: id, createdS: created, model } = completionHeadOf(first.job.record);
  const choices = chats.map((chat, index) => {
    const text = chat.echo + chat.feed.text();
    return { index, text, logprobs: null, finish_reason: doneOf(chat).finishReason };
  });
  return { id, object: "text_completion", created, model, choices, usage: usageOf(chats.map(doneOf)) };
}

function usageOf(endings: readonly (FeedEnding & { type: "done" })[]) {
  const usage = { ...NO_USAGE };
  for (const ending of endings) addUsage(usage, ending);
  return chatUsage(usage);
}

function echoOf(prompt: string, body: TextCompletionBody): string {
  return body.echo === true ? prompt : "";
}

/** Returns an encoder of a completion's chunks: `echo`, text, finish reason, usage if requested, [DONE]. */
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
    cut: (reason) => errorLine(CUT_ERRORS[reason]),
  };
}
