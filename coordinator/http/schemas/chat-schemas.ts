import { z } from "@hono/zod-openapi";
import {
  MAX_ASKED_TOKENS,
  messagesSchema,
  responseFormatSchema,
  samplingFields,
  type ResponseFormat,
} from "../../../shared/chat-input.ts";
import { MAX_TOOLS, toolCallSchema, toolFields, toolSchema } from "../../../shared/chat-tools.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { REASONING_EFFORTS, reasoningFields } from "../../../shared/reasoning.ts";
import { probabilityFields } from "../../../shared/token-probability.ts";
import type { JobInput } from "../../store/job-store.ts";
import { isOtherTool } from "../openai/chat-parameters.ts";
import { givenFieldsOf } from "./given-fields.ts";
import { offeredTools, otherToolSchema, toolPathOf } from "./offered-tools.ts";
import { costSchema } from "./wire-units.ts";

const [textFormat, jsonFormat, schemaFormat] = responseFormatSchema.options;
/** Other services take a schema with `json_object`; Instructor and Together's SDK send it. */
const bodyFormatSchema = z.discriminatedUnion("type", [
  textFormat,
  jsonFormat.extend({ schema: z.record(z.string(), z.unknown()).nullish() }),
  schemaFormat,
]);

/** Mistral's API calls `required` so. */
const toolChoiceSchema = z.preprocess((choice) => (choice === "any" ? "required" : choice), toolFields.tool_choice);

/** Most answers to one request. */
const MAX_CHOICES = 8;
/** Largest seed; the one after it is 0. */
const SEEDS = 2 ** 32;

/** OpenAI's two higher efforts are `high`, which has no budget but `max_tokens`. */
export const effortSchema = z
  .enum([...REASONING_EFFORTS, "xhigh", "max"])
  .transform((effort) => (effort === "xhigh" || effort === "max" ? "high" : effort));

/** Body of a chat completion. `openai/chat-parameters.ts` says what is refused; `null` means "not given". Source: DESIGN §4, row Chat. */
export const chatBodySchema = z
  .object({
    model: z
      .string()
      .nullish()
      .openapi({ description: "Slug of a chat Cargo; default: the operator's default chat Cargo" }),
    messages: messagesSchema,
    ...samplingFields,
    response_format: bodyFormatSchema.nullish(),
    ...toolFields,
    tools: z
      .array(z.union([toolSchema, otherToolSchema(isOtherTool)], "must be a function, or have another type"))
      .max(MAX_TOOLS)
      .nullish()
      .openapi({ description: "Functions; other tools are not offered to the model" }),
    tool_choice: toolChoiceSchema,
    ...probabilityFields,
    reasoning_effort: effortSchema.nullish(),
    max_completion_tokens: z.int().min(1).max(MAX_ASKED_TOKENS).nullish(),
    n: z
      .int()
      .min(1)
      .max(MAX_CHOICES)
      .nullish()
      .openapi({ description: "Answers, each a job of its own, one after the other" }),
    stream: z.boolean().nullish(),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
    usage: z.object({ include: z.boolean().nullish() }).nullish().openapi({ description: "OpenRouter's" }),
  })
  .openapi("ChatCompletionRequest");
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
    .openapi({ description: "Of answers with thoughts, whose tokens are among completion_tokens" }),
});

/** A part of a call: the first has its id and name, all have arguments to append. */
const toolCallDeltaSchema = z.object({
  index: z.int(),
  id: z.string().optional(),
  type: z.literal("function").optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
});

const logprobFields = {
  token: z.string(),
  logprob: z.number().openapi({ description: "Natural logarithm, before temperature, penalties and grammars" }),
  bytes: z.array(z.int()).nullable(),
};
const logprobsSchema = z.object({
  content: z.array(z.object({ ...logprobFields, top_logprobs: z.array(z.object(logprobFields)) })),
  refusal: z.null(),
});
export type ChatLogprobs = z.infer<typeof logprobsSchema>;

const choiceSchema = z.object({
  index: z.int(),
  message: z.object({
    role: z.literal("assistant"),
    content: z.string().nullable().openapi({ description: "Null for an answer of calls alone" }),
    reasoning_content: z.string().optional().openapi({ description: "Thoughts of a model that thinks" }),
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
      retryable: z.boolean().openapi({ description: "A new try may succeed" }),
    }),
  })
  .openapi("ChatCompletionError", { description: "The job failed after output began; no [DONE] follows" });

/** Data of a streamed chat's events, as `streaming/chat-encoder.ts` writes them. */
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
          .openapi({ description: "Empty in the chunk that carries `usage`" }),
        usage: chatUsageSchema.optional(),
      })
      .openapi("ChatCompletionChunk"),
    streamErrorSchema,
    z.literal("[DONE]").openapi({ description: "The literal text, not JSON: the answer is complete" }),
  ])
  .openapi("ChatCompletionEvent");

/** The input of the chat's job. */
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

/** The field of a chat that became this one of the job's input. */
export function chatFieldOf({ response_format: format, tools }: ChatBody, path: string): string {
  if (format?.type !== "json_object") return toolPathOf(offeredTools(tools), path);
  return toolPathOf(offeredTools(tools), path.replace(/^response_format\.json_schema/, "response_format"));
}

/** The inputs of the jobs for all answers that are asked for. With a seed, each has the next one. */
export function jobInputsOf(body: ChatBody): JobInput[] {
  const input = jobInputOf(body);
  const { seed } = body;
  return Array.from({ length: body.n ?? 1 }, (_, choice) =>
    seed == null || choice === 0 ? input : { ...input, seed: (seed + choice) % SEEDS },
  );
}

const samplingSchema = z.object(samplingFields);

/** Sampling fields of a chat job's input, without those that are `null` or not given. `max_completion_tokens` wins. */
export function samplingOf(
  body: z.infer<typeof samplingSchema> & Pick<ChatBody, "max_completion_tokens">,
): Record<string, unknown> {
  return givenFieldsOf({ ...body, max_tokens: body.max_completion_tokens ?? body.max_tokens }, samplingFields);
}
