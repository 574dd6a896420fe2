import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES, MAX_OUTPUT_TOKENS, messagesSchema, samplingFields } from "../../../shared/chat-input.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import type { JobInput } from "../../store/job-store.ts";

/** Said here too, under the name that a chat client knows; the job's input is checked again when it is submitted. */
function fitsInputLimit(messages: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(messages)) <= MAX_INPUT_BYTES;
}

/** Body of a chat completion. Unknown fields are ignored; `null` means "not given". Source: DESIGN §4, row Chat. */
export const chatBodySchema = z
  .object({
    model: z.string().nullish().openapi({ description: "Slug of a chat Cargo; the operator's default when left out" }),
    messages: messagesSchema.refine(fitsInputLimit, { message: `larger than ${MAX_INPUT_BYTES} bytes of JSON` }),
    ...samplingFields,
    max_completion_tokens: z.int().min(1).max(MAX_OUTPUT_TOKENS).nullish(),
    n: z.literal(1, "only 1 is served").nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  })
  .openapi("ChatCompletionRequest");
export type ChatBody = z.infer<typeof chatBodySchema>;

const finishReasonSchema = z.enum(FINISH_REASONS);
const chatUsageSchema = z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

const choiceSchema = z.object({
  index: z.int(),
  message: z.object({ role: z.literal("assistant"), content: z.string() }),
  logprobs: z.null(),
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

/** Data of a streamed chat's events, as `chat-encoder.ts` writes them. */
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
              delta: z.object({ role: z.literal("assistant").optional(), content: z.string().optional() }),
              logprobs: z.null(),
              finish_reason: finishReasonSchema.nullable(),
            }),
          )
          .openapi({ description: "Empty in the chunk that carries `usage`" }),
        usage: chatUsageSchema.optional(),
      })
      .openapi("ChatCompletionChunk"),
    z
      .object({
        error: z.object({
          message: z.string(),
          type: z.literal("server_error"),
          param: z.null(),
          code: z.string(),
          retryable: z.boolean().openapi({ description: "Another try may succeed" }),
        }),
      })
      .openapi("ChatCompletionError", { description: "The job failed in mid-stream; no [DONE] follows" }),
    z.literal("[DONE]").openapi({ description: "Literally, and not JSON: the answer is whole" }),
  ])
  .openapi("ChatCompletionEvent");

/** The job's input that a chat stands for: what was given and is not `null`, under the names of a chat Cargo's input. */
export function jobInputOf(body: ChatBody): JobInput {
  const { messages, max_completion_tokens: newName, max_tokens: oldName } = body;
  const fields: Record<string, unknown> = { ...samplingOf(body), max_tokens: newName ?? oldName };
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return { messages, ...Object.fromEntries(given) };
}

function samplingOf(body: ChatBody): Record<string, unknown> {
  return Object.fromEntries(Object.keys(samplingFields).map((name) => [name, body[name as keyof ChatBody]]));
}
