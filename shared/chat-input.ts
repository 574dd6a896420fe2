import { z } from "zod";
import { KIB } from "./format-bytes.ts";

/** Source: DESIGN §4, row Chat. */
export const CHAT_ROLES = ["system", "user", "assistant", "tool", "developer"] as const;
export const MAX_OUTPUT_TOKENS = 4_096;
export const DEFAULT_OUTPUT_TOKENS = 1_024;
export const DEFAULT_TEMPERATURE = 0.7;
/** Most UTF-8 bytes of a job's input, as JSON. Source: DESIGN §4. */
export const MAX_INPUT_BYTES = 256 * KIB;

const MAX_PARTS = 256;

/** OpenAI clients send content as text or as a list of text parts; parts are joined. */
const contentSchema = z.union(
  [
    z.string(),
    z
      .array(z.object({ type: z.literal("text"), text: z.string() }))
      .max(MAX_PARTS)
      .transform((parts) => parts.map((part) => part.text).join("")),
  ],
  { error: ({ input }) => describeContentFault(input) },
);

function describeContentFault(content: unknown): string {
  const taken = 'a text, or a list of parts {"type": "text", "text": "…"}';
  if (!Array.isArray(content)) return `must be ${taken}`;
  if (content.length > MAX_PARTS) return `has ${content.length} parts; at most ${MAX_PARTS} are taken`;
  const types = content.map((part: { type?: unknown } | null) => part?.type);
  const other = types.find((type) => typeof type === "string" && type !== "text");
  return other === undefined ? `must be ${taken}` : `must be ${taken}; ${JSON.stringify(other)} is not taken`;
}

/** An assistant that called tools has often said nothing beside: its content may be `null` or left out, and is then empty. */
export const chatMessageSchema = z
  .object({
    role: z.enum(CHAT_ROLES),
    content: contentSchema.nullish(),
    tool_calls: z.array(z.unknown()).nullish(),
  })
  .refine(({ role, content, tool_calls: calls }) => content != null || (role === "assistant" && !!calls?.length), {
    message: "is needed; only an assistant message with tool_calls may be without",
    path: ["content"],
  })
  .transform(({ role, content }) => ({ role, content: content ?? "" }));
export type ChatMessage = z.infer<typeof chatMessageSchema>;

export const responseFormatSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string().max(64).optional(),
      description: z.string().optional(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().nullish(),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof responseFormatSchema>;

const stopSchema = z.union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).max(4)]);

/** Sampling fields that chat jobs and chat completions share. `null` means the default, as OpenAI clients send it. */
export const samplingFields = {
  max_tokens: z.number().int().min(1).max(MAX_OUTPUT_TOKENS).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  stop: stopSchema.nullish(),
  seed: z.number().int().min(0).max(4_294_967_295).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  response_format: responseFormatSchema.nullish(),
};

export const messagesSchema = z.array(chatMessageSchema).min(1).max(128);

/** A chat Cargo's job input: a prompt or messages, never both. Unknown fields are ignored. */
export const chatInputSchema = z
  .object({
    prompt: z.string().min(1).optional(),
    messages: messagesSchema.optional(),
    system_prompt: z.string().optional(),
    ...samplingFields,
  })
  .refine((input) => (input.prompt === undefined) !== (input.messages === undefined), {
    message: "exactly one of prompt and messages is needed",
    path: ["messages"],
  });
export type ChatInput = z.infer<typeof chatInputSchema>;

/** A chat request with every default filled in, as the runtimes take it. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number | null;
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly responseFormat: ResponseFormat;
}

/** Fills in the defaults of DESIGN §4. */
export function chatRequestOf(input: ChatInput): ChatRequest {
  const system: ChatMessage[] =
    input.system_prompt === undefined ? [] : [{ role: "system", content: input.system_prompt }];
  const messages = input.messages ?? [{ role: "user" as const, content: input.prompt ?? "" }];
  const stop = input.stop ?? [];
  return {
    messages: [...system, ...messages],
    maxTokens: input.max_tokens ?? DEFAULT_OUTPUT_TOKENS,
    temperature: input.temperature ?? DEFAULT_TEMPERATURE,
    topP: input.top_p ?? null,
    stop: typeof stop === "string" ? [stop] : stop,
    seed: input.seed ?? null,
    frequencyPenalty: input.frequency_penalty ?? 0,
    presencePenalty: input.presence_penalty ?? 0,
    responseFormat: input.response_format ?? { type: "text" },
  };
}
