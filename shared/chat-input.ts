import { z } from "zod";

/** Source: DESIGN §4, row Chat. */
export const CHAT_ROLES = ["system", "user", "assistant", "tool", "developer"] as const;
export const MAX_OUTPUT_TOKENS = 4_096;
export const DEFAULT_OUTPUT_TOKENS = 1_024;
export const DEFAULT_TEMPERATURE = 0.7;
/** Most UTF-8 bytes of a job's input, as JSON. Source: DESIGN §4. */
export const MAX_INPUT_BYTES = 256 * 1_024;

/** OpenAI clients send content as text or as a list of text parts; parts are joined. */
const contentSchema = z.union([
  z.string(),
  z
    .array(z.object({ type: z.literal("text"), text: z.string() }))
    .max(256)
    .transform((parts) => parts.map((part) => part.text).join("")),
]);

export const chatMessageSchema = z.object({
  role: z.enum(CHAT_ROLES),
  content: contentSchema,
});
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
