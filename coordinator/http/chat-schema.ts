import { z } from "@hono/zod-openapi";
import { MAX_INPUT_BYTES, MAX_OUTPUT_TOKENS, messagesSchema, samplingFields } from "../../shared/chat-input.ts";
import type { JobInput } from "../store/job-store.ts";

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

const choiceSchema = z.object({
  index: z.int(),
  message: z.object({ role: z.literal("assistant"), content: z.string() }),
  logprobs: z.null(),
  finish_reason: z.string(),
});

export const completionSchema = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(choiceSchema),
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
  })
  .openapi("ChatCompletion");

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
