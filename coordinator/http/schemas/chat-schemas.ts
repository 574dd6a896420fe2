import { z } from "@hono/zod-openapi";
import {
  MAX_REQUESTED_TOKENS,
  messagesSchema,
  type ResponseFormat,
  responseFormatSchema,
  samplingFields,
} from "../../../shared/chat-input.ts";
import { MAX_TOOLS, toolCallSchema, toolFields, toolSchema } from "../../../shared/chat-tools.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { REASONING_EFFORTS, reasoningFields } from "../../../shared/reasoning.ts";
import { ignored, OPENAI_LABEL, OPENAI_PRICE, refused, requestObject } from "../../../shared/request-object.ts";
import { probabilityFields, type TokenProbability } from "../../../shared/token-probability.ts";
import type { JobInput, FeedItem } from "../../store/jobs/job-store.ts";
import { givenFieldsOf } from "./given-fields.ts";
import { offeredTools, otherToolSchema, toolPathOf } from "./offered-tools.ts";
import { trustFields } from "./trust-fields.ts";
import { costSchema } from "./wire-units.ts";

const [textFormat, jsonFormat, schemaFormat] = responseFormatSchema.options;
/** Format of the completion. `json_object` may have a schema, which Instructor and Together's SDK send. */
const bodyFormatSchema = z.discriminatedUnion("type", [
  textFormat,
  jsonFormat.extend({
    schema: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe("Not part of OpenAI's API. With a schema, `json_object` works like `json_schema`"),
  }),
  schemaFormat,
]);

/** Choice among the tools. Mistral's API uses `any` for `required`. */
const toolChoiceSchema = z.preprocess((choice) => (choice === "any" ? "required" : choice), toolFields.tool_choice);

const MAX_CHOICES = 8;
/** Number of seeds: the seed after the largest one is 0. */
const SEEDS = 2 ** 32;

/** Effort of reasoning. OpenAI's two higher efforts become `high`, whose budget is limited only by `max_tokens`. */
export const effortSchema = z
  .enum([...REASONING_EFFORTS, "xhigh", "max"])
  .transform((effort) => (effort === "xhigh" || effort === "max" ? "high" : effort));

const USE_FORMAT = "use `response_format`";
const MODEL_ENDS = "the model decides where a completion ends";

export const streamOptionsSchema = requestObject({
  include_usage: z.boolean().nullish(),
  include_obfuscation: refused("chunks are never padded", [false]),
});

/** Body of a chat. Source: decision 0023. */
export const chatBodySchema = requestObject({
  model: z.string().nullish().describe("Slug or alias of a chat Cargo. Default: the operator's default chat Cargo"),
  messages: messagesSchema,
  max_completion_tokens: z
    .int()
    .min(1)
    .max(MAX_REQUESTED_TOKENS)
    .nullish()
    .describe("Newer name for `max_tokens`; takes precedence over it"),
  ...samplingFields,
  response_format: bodyFormatSchema.nullish(),
  ...toolFields,
  tools: z
    .array(z.union([toolSchema, otherToolSchema("function")], "must be a function, or a tool of another type"))
    .max(MAX_TOOLS)
    .nullish()
    .describe("Functions, at most 256 KB in total"),
  tool_choice: toolChoiceSchema,
  functions: refused("deprecated by OpenAI; use `tools`", [[]]),
  function_call: refused("deprecated by OpenAI; use `tool_choice`", ["none", "auto"]),
  ...probabilityFields,
  reasoning_effort: effortSchema
    .nullish()
    .describe("Effort of reasoning. A Cargo without reasoning ignores it, and `Atoll-Ignored` names it"),
  n: z
    .int()
    .min(1)
    .max(MAX_CHOICES)
    .nullish()
    .describe(
      "Number of choices. Each choice is a separate job; the jobs run one after the other, even in a stream. If a job fails, the earlier ones are still charged",
    ),
  stream: z.boolean().nullish(),
  stream_options: streamOptionsSchema.nullish(),
  verbosity: ignored("ask for it in a message", ["medium"]),
  modalities: refused("completions are always text", [["text"], []]),
  audio: refused("completions are always text"),
  prediction: ignored("no runtime supports predicted outputs"),
  web_search_options: ignored("web search is not available"),
  moderation: refused("use `POST /moderations`"),
  user: OPENAI_LABEL,
  safety_identifier: OPENAI_LABEL,
  metadata: ignored("labels for OpenAI's stored completions"),
  store: ignored("every chat is stored as a job", [true]),
  service_tier: ignored("only one tier is available", ["auto", "default"]),
  prompt_cache_key: OPENAI_PRICE,
  prompt_cache_options: OPENAI_PRICE,
  prompt_cache_retention: OPENAI_PRICE,
  usage: z
    .object({ include: z.boolean().nullish() })
    .nullish()
    .describe("OpenRouter's equivalent of `stream_options.include_usage`"),
  reasoning: ignored("an OpenRouter parameter; use `reasoning_effort`"),
  ...trustFields,
  repetition_penalty: refused("use `repeat_penalty`", [1]),
  grammar: refused(USE_FORMAT),
  json_schema: refused(USE_FORMAT),
  guided_json: refused(USE_FORMAT),
  guided_regex: refused("use `response_format` with a `pattern`"),
  guided_choice: refused("use `response_format` with an `enum`"),
  guided_grammar: refused(USE_FORMAT),
  structured_outputs: refused(USE_FORMAT),
  min_tokens: refused(MODEL_ENDS, [0]),
  ignore_eos: refused(MODEL_ENDS, [false]),
  stop_token_ids: refused("use `stop`", [[]]),
  chat_template_kwargs: refused("chat templates take only messages", [{}]),
  keep_alive: refused("the Cargo and the host set how long a model stays in memory"),
  cache_prompt: ignored("does not change the completion"),
}).openapi("ChatCompletionRequest");
export type ChatBody = z.infer<typeof chatBodySchema>;

const finishReasonSchema = z.enum(FINISH_REASONS);
const chatUsageSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: costSchema,
  completion_tokens_details: z
    .object({ reasoning_tokens: z.int() })
    .optional()
    .describe("Present for completions with reasoning, whose tokens count as completion_tokens"),
});

/** Part of a streamed tool call. The first part has the id and the name; all parts have arguments to append. */
const toolCallDeltaSchema = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal("function").optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const logprobFields = {
  token: z.string(),
  logprob: z.number().describe("Natural logarithm of the probability, before temperature, penalties and grammars"),
  bytes: z.array(z.int()).nullable(),
};
const logprobsSchema = z.object({
  content: z.array(z.object({ ...logprobFields, top_logprobs: z.array(z.object(logprobFields)) })),
  refusal: z.null(),
});
type ChatLogprobs = z.infer<typeof logprobsSchema>;

const choiceSchema = z.object({
  index: z.int(),
  message: z.object({
    role: z.literal("assistant"),
    content: z.string().nullable().describe("Text of the completion; null if it has only tool calls"),
    reasoning_content: z.string().optional().describe("Reasoning of a Cargo that supports it"),
    tool_calls: z.array(toolCallSchema).optional(),
  }),
  logprobs: logprobsSchema.nullable(),
  finish_reason: finishReasonSchema,
});

export const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choiceSchema),
    usage: chatUsageSchema,
  })
  .openapi("ChatCompletion");

export const streamErrorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.enum(["server_error", "invalid_request_error"]),
      param: z.null(),
      code: z.string(),
      retryable: z.boolean().describe("Whether another attempt may succeed"),
    }),
  })
  .openapi("ChatCompletionError", {
    description: "Last line of a stream whose job failed after output began; no `[DONE]` follows",
  });

export const chatEventSchema = z
  .union([
    z
      .object({
        id: z.string(),
        object: z.literal("chat.completion.chunk"),
        created: z.int(),
        model: z.string(),
        choices: z
          .array(
            z.object({
              index: z.int(),
              delta: z.object({
                role: z.literal("assistant").optional(),
                content: z.string().optional(),
                reasoning_content: z.string().optional(),
                tool_calls: z.array(toolCallDeltaSchema).optional(),
              }),
              logprobs: logprobsSchema.nullable(),
              finish_reason: finishReasonSchema.nullable(),
            }),
          )
          .describe("Choices; empty in the chunk that has `usage`"),
        usage: chatUsageSchema.optional(),
      })
      .openapi("ChatCompletionChunk"),
    streamErrorSchema,
    z.literal("[DONE]").describe("Literal text, not JSON, that follows a complete completion"),
  ])
  .openapi("ChatCompletionEvent");

function jobInputOf(body: ChatBody): JobInput {
  const offered = offeredTools(body.tools).map(({ tool }) => tool);
  const tools = offered.length === 0 ? null : offered;
  const asked = givenFieldsOf({ ...body, tools }, { ...toolFields, ...probabilityFields, ...reasoningFields });
  const response_format = keptFormatOf(body.response_format);
  return { messages: body.messages, ...samplingOf({ ...body, response_format }), ...asked };
}

function keptFormatOf(format: ChatBody["response_format"]): ResponseFormat | null | undefined {
  if (format?.type !== "json_object" || format.schema == null) return format;
  return { type: "json_schema", json_schema: { name: "answer", schema: format.schema } };
}

/** Maps the path of a field in the job's input to the client's field. */
export function chatFieldOf({ response_format: format, tools }: ChatBody, path: string): string {
  if (format?.type !== "json_object") return toolPathOf(offeredTools(tools), path);
  return toolPathOf(offeredTools(tools), path.replace(/^response_format\.json_schema/, "response_format"));
}

/** Returns the inputs of the jobs, one for each choice. With a seed, each choice gets the next seed. */
export function jobInputsOf(body: ChatBody): JobInput[] {
  const input = jobInputOf(body);
  const { seed } = body;
  return Array.from({ length: body.n ?? 1 }, (_, choice) =>
    seed == null || choice === 0 ? input : { ...input, seed: (seed + choice) % SEEDS },
  );
}

/** Returns the sampling fields of a job's input. `max_completion_tokens` takes precedence over `max_tokens`. */
export function samplingOf(
  body: z.infer<z.ZodObject<typeof samplingFields>> & Pick<ChatBody, "max_completion_tokens">,
): Record<string, unknown> {
  return givenFieldsOf({ ...body, max_tokens: body.max_completion_tokens ?? body.max_tokens }, samplingFields);
}

/** Presents the log probabilities of a feed in OpenAI's format; null if they were not requested. */
export function presentLogprobs(items: readonly FeedItem[]): ChatLogprobs | null {
  const reported = items.flatMap((item) =>
    item.type === "token" && item.logprobs !== undefined ? [item.logprobs] : [],
  );
  if (reported.length === 0) return null;
  const content = reported.flat().map((each) => ({ ...presentEntry(each), top_logprobs: each.top.map(presentEntry) }));
  return { content, refusal: null };
}

export function presentEntry({ token, logprob, bytes }: Omit<TokenProbability, "top">) {
  // The bytes of a token that ends inside a character are unknown unless the Island reported them.
  return { token, logprob, bytes: bytes ?? (token.includes("\uFFFD") ? null : [...Buffer.from(token)]) };
}
