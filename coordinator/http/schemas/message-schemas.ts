import { z } from "@hono/zod-openapi";
import { MAX_OUTPUT_TOKENS, samplingFields } from "../../../shared/chat-input.ts";
import type { FinishReason, Usage } from "../../../shared/output.ts";
import type { JobInput } from "../../store/job-store.ts";

/** Most blocks of one message. */
const MAX_BLOCKS = 256;

const textBlockSchema = z.object({ type: z.literal("text"), text: z.string() });
const textsSchema = z.union([z.string(), z.array(textBlockSchema).max(MAX_BLOCKS)], {
  error: 'must be a text, or a list of blocks {"type": "text", "text": "…"}',
});

const BLOCK_TYPES = ["text"] as const;
const contentSchema = z.union([z.string(), z.array(textBlockSchema).min(1).max(MAX_BLOCKS)], {
  error: ({ input }) => describeContentFault(input),
});

function describeContentFault(content: unknown): string {
  const expected = `must be a text, or a list of 1 to ${MAX_BLOCKS} blocks of the type ${BLOCK_TYPES.join(", ")}`;
  if (!Array.isArray(content)) return expected;
  const types = content.map((block: { type?: unknown } | null) => block?.type);
  const other = types.find((type) => typeof type === "string" && !BLOCK_TYPES.some((known) => known === type));
  return other === undefined ? expected : `${expected}; ${JSON.stringify(other)} is not supported`;
}

const promptFields = {
  model: z.string().min(1).openapi({ description: "Slug or alias of a chat Cargo" }),
  messages: z
    .array(z.object({ role: z.enum(["user", "assistant"]), content: contentSchema }))
    .min(1)
    .max(120),
  system: textsSchema.nullish(),
};

/** Body of a message. `null` means "not given". Source: Anthropic's API. */
export const messageBodySchema = z
  .object({
    ...promptFields,
    max_tokens: z.int().min(1).max(MAX_OUTPUT_TOKENS),
    temperature: z.number().min(0).max(1).nullish().openapi({ description: "Default 1" }),
    top_p: samplingFields.top_p,
    top_k: samplingFields.top_k,
    stop_sequences: z.array(z.string().min(1).max(200)).max(4).nullish(),
    output_config: z
      .object({
        format: z.object({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).nullish(),
      })
      .nullish(),
    stream: z.boolean().nullish(),
  })
  .openapi("MessageRequest");
export type MessageBody = z.infer<typeof messageBodySchema>;

export const countTokensBodySchema = z.object(promptFields).openapi("CountTokensRequest");
export const countTokensSchema = z.object({ input_tokens: z.int() }).openapi("CountedTokens");

const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_creation_input_tokens: z.null(),
  cache_read_input_tokens: z.null(),
});
const stopReasonSchema = z.enum(["end_turn", "max_tokens"]);
const blockSchema = z.object({ type: z.literal("text"), text: z.string(), citations: z.null() });

export const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(blockSchema),
    stop_reason: stopReasonSchema.nullable().openapi({
      description: "`end_turn` also for an answer that a stop sequence ended: Islands do not say which",
    }),
    stop_sequence: z.null(),
    usage: usageSchema,
  })
  .openapi("AnthropicMessage");
export type MessageAnswer = z.infer<typeof messageSchema>;

/** Data of a streamed message's events, as `streaming/message-encoder.ts` writes them. */
export const messageEventSchema = z
  .union([
    z.object({ type: z.literal("message_start"), message: messageSchema }),
    z.object({ type: z.literal("ping") }),
    z.object({ type: z.literal("content_block_start"), index: z.int(), content_block: blockSchema }),
    z.object({
      type: z.literal("content_block_delta"),
      index: z.int(),
      delta: z.object({ type: z.literal("text_delta"), text: z.string() }),
    }),
    z.object({ type: z.literal("content_block_stop"), index: z.int() }),
    z.object({
      type: z.literal("message_delta"),
      delta: z.object({ stop_reason: stopReasonSchema, stop_sequence: z.null() }),
      usage: usageSchema,
    }),
    z.object({ type: z.literal("message_stop") }),
    z.object({
      type: z.literal("error"),
      error: z.object({ type: z.string(), message: z.string(), code: z.string(), retryable: z.boolean() }),
    }),
  ])
  .openapi("AnthropicMessageEvent");

type Texts = z.infer<typeof textsSchema>;

function textOf(content: Texts): string {
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

/** What a chat's job is asked: the system text and the messages. */
export function promptOf({ system, messages }: Pick<MessageBody, "system" | "messages">): JobInput {
  const instructions = system == null ? "" : textOf(system);
  const turns = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  return { messages: instructions === "" ? turns : [{ role: "system", content: instructions }, ...turns] };
}

/** The input of the message's job. Anthropic's default temperature is 1. */
export function messageInputOf(body: MessageBody): JobInput {
  const schema = body.output_config?.format?.schema;
  const given = {
    temperature: body.temperature ?? 1,
    top_p: body.top_p,
    top_k: body.top_k,
    stop: body.stop_sequences,
    response_format: schema && { type: "json_schema", json_schema: { name: "output", schema, strict: true } },
  };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  return { ...promptOf(body), max_tokens: body.max_tokens, ...fields };
}

const FIELDS: readonly (readonly [string, string])[] = [
  ["response_format.json_schema.schema", "output_config.format.schema"],
  ["stop", "stop_sequences"],
];

/** The field of a message that became this one of the job's input. */
export function messageFieldOf(path: string): string {
  const [from, to] = FIELDS.find(([start]) => path.startsWith(start)) ?? ["", ""];
  return to + path.slice(from.length);
}

export function messageUsage({ promptTokens, completionTokens }: Usage): z.infer<typeof usageSchema> {
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
  };
}

export function stopReasonOf(finishReason: FinishReason): z.infer<typeof stopReasonSchema> {
  return finishReason === "length" ? "max_tokens" : "end_turn";
}
