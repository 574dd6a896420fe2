import { z } from "zod";
import { pastCallsSchema, toolFields, toolUseOf, type ToolCall, type ToolUse } from "./chat-tools.ts";
import { MAX_IMAGES, MAX_IMAGES_BYTES, type ContentPart } from "./chat-images.ts";
import { chatReadSchema, type ChatRead } from "./chat-reading.ts";
import { formatBytes, KIB, MIB } from "./format-bytes.ts";
import { MAX_STOP_CHARS } from "./output.ts";
import { reasoningFields, type ReasoningEffort } from "./reasoning.ts";
import {
  ANTHROPIC_PRICE,
  EARLIER_RESPONSE,
  EARLIER_REASONING,
  ignored,
  OPENAI_PRICE,
  refused,
  requestObject,
} from "./request-object.ts";
import { probabilityFields, probabilityProblem, topLogprobsOf } from "./token-probability.ts";
import { isJsonObject } from "./json-value.ts";

/**
 * Maximum parts, calls and results of all messages together. Checking 300,000 invalid parts took 3 to 8 s (2 cores,
 * 2026-11).
 */
const MAX_PARTS_TOGETHER = 16_384;
/** The members of messages, and of blocks in messages, that are lists of parts. */
const LISTS = ["content", "tool_calls", "output"] as const;

/** The roles of OpenAI's API. */
const CHAT_ROLES = ["system", "user", "assistant", "tool", "developer"] as const;
export const MAX_OUTPUT_TOKENS = 131_072;
/**
 * Maximum number of output tokens of every Cargo, regardless of its context. Agents of earlier versions refuse a larger
 * number.
 */
export const BASE_OUTPUT_TOKENS = 4_096;
export const DEFAULT_OUTPUT_TOKENS = 1_024;
export const DEFAULT_TEMPERATURE = 0.7;
/** Largest limit that a request may name. It is lowered to the Cargo's limit. */
export const MAX_REQUESTED_TOKENS = 2 ** 31 - 1;
export const LOWERED_TOKENS = `Values above the Cargo's context are lowered to it, or to ${BASE_OUTPUT_TOKENS} if that is more`;
/** Limit of a job's input as JSON, in UTF-8 bytes. */
export const MAX_INPUT_BYTES = 256 * KIB;
/**
 * Limit of a chat's input as JSON, without its images. Coding agents send their whole conversation and all their tools
 * with every request.
 */
export const MAX_CHAT_BYTES = MIB;

const MAX_PARTS = 256;

const ONLY_TEXT = "messages may contain only text and images; no chat Cargo accepts audio or files";

/** Address of an image, as in `image_url` of OpenAI's chats and responses. Its bytes are checked when it is read. */
export const imageUrlSchema = z
  .string()
  .refine((url) => /^(?:https?:\/\/|data:image\/)/i.test(url), {
    message: "must be a data URL (data:image/png;base64,…) or an https address",
  })
  .describe(
    `A data URL, or an https address, which the coordinator downloads. At most ${MAX_IMAGES} images of together ${formatBytes(MAX_IMAGES_BYTES)} in a request`,
  );
export const IMAGE_DETAIL = ignored("the model decides at which size it reads an image", ["auto"]);

const partSchema = z.discriminatedUnion(
  "type",
  [
    requestObject({
      type: z.literal("text").describe("`text` or `image_url`; other types are refused"),
      text: z.string(),
      role: ignored("the role of the message applies"),
      input_audio: refused(ONLY_TEXT),
      file: refused(ONLY_TEXT),
      refusal: refused(ONLY_TEXT),
      prompt_cache_breakpoint: OPENAI_PRICE,
      cache_control: ANTHROPIC_PRICE,
    }),
    requestObject({
      type: z.literal("image_url"),
      image_url: requestObject({ url: imageUrlSchema, detail: IMAGE_DETAIL }).describe("Only in `user` messages"),
    }),
  ],
  { error: ({ input }) => describeOtherPart(input, "text and images are") },
);

/** Returns the error message for a message part of another type, which it names. */
export function describeOtherPart(part: unknown, supported = "text is"): string {
  const { type } = (part ?? {}) as { readonly type?: unknown };
  if (typeof type !== "string") return "must be text";
  return `${JSON.stringify(type)} is not supported; only ${supported}`;
}

/** Returns the text of a content, without its images. */
export function textOf(content: string | readonly ({ readonly text: string } | ContentPart)[]): string {
  return typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("");
}

/** Returns parts as the content of a message in a job's input: one string unless there are images. */
export function contentOf(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  return parts.some(({ type }) => type === "image_url") ? parts : textOf(parts);
}

/** OpenAI's clients send content as a string or as a list of parts; without images, parts are joined. */
const contentSchema = z.union([z.string(), z.array(partSchema).max(MAX_PARTS).transform(contentOf)], {
  error: ({ input }) => describeContentFault(input),
});

function describeContentFault(content: unknown): string {
  if (!Array.isArray(content)) return 'must be a string, or a list of parts {"type": "text", "text": "…"}';
  return `has ${content.length} parts; at most ${MAX_PARTS} are allowed`;
}

/** An assistant message with tool calls often has no text: its content may be `null` or missing, and becomes empty. */
const chatMessageSchema = requestObject({
  role: z.enum(CHAT_ROLES),
  content: contentSchema.nullish().describe("Text, or a list of parts; text parts are joined"),
  cache_control: ANTHROPIC_PRICE,
  name: ignored("chat templates do not support names"),
  tool_calls: pastCallsSchema.nullish().describe("Tool calls of the assistant"),
  tool_call_id: z.string().max(256).nullish().describe("Id of the tool call that this `tool` message answers"),
  refusal: EARLIER_RESPONSE,
  annotations: EARLIER_RESPONSE,
  reasoning_content: EARLIER_REASONING,
  reasoning: EARLIER_REASONING,
  reasoning_details: EARLIER_REASONING,
  audio: refused(ONLY_TEXT),
  function_call: refused("deprecated by OpenAI; use `tool_calls`"),
})
  .refine(({ role, content, tool_calls: calls }) => content != null || (role === "assistant" && !!calls?.length), {
    message: "is required; only an assistant message with tool_calls may omit it",
    path: ["content"],
  })
  .refine(({ role, content }) => role === "user" || !Array.isArray(content), {
    message: "may have images only in user messages",
    path: ["content"],
  })
  .transform(({ role, content, tool_calls: calls, tool_call_id: answered }): InputMessage => {
    return {
      role,
      content: content ?? "",
      ...(role === "assistant" && calls?.length ? { tool_calls: calls } : {}),
      ...(role === "tool" && answered != null ? { tool_call_id: answered } : {}),
    };
  });
/** A message as a job's input has it. */
type InputMessage = Omit<ChatMessage, "content" | "parts"> & { readonly content: string | readonly ContentPart[] };

export interface ChatMessage {
  readonly role: (typeof CHAT_ROLES)[number];
  /** The text. */
  readonly content: string;
  /** Texts and images in their order, only for a message with images. */
  readonly parts?: readonly ContentPart[];
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}

export const responseFormatSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: requestObject({
      name: z.string().max(64).optional().describe("Used only in error messages"),
      description: ignored("not sent to the model"),
      schema: z.record(z.string(), z.unknown()).describe("A JSON Schema"),
      strict: z.boolean().nullish().describe("Validate afterwards the keywords that the grammar cannot enforce"),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof responseFormatSchema>;

const stopSequenceSchema = z.string().min(1).max(MAX_STOP_CHARS);
const MAX_STOPS = 4;
const stopSchema = z.union([stopSequenceSchema, z.array(stopSequenceSchema).max(MAX_STOPS)], {
  error: `must be a string of 1 to ${MAX_STOP_CHARS} characters, or a list of at most ${MAX_STOPS} such strings`,
});

const MAX_TOP_K = 1_000;
/** Same limit as OpenAI's. */
const MAX_BIASED_TOKENS = 300;
const logitBiasSchema = z
  .record(z.string().regex(/^\d{1,7}$/, "must be a token id"), z.number().min(-100).max(100))
  .refine((bias) => Object.keys(bias).length <= MAX_BIASED_TOKENS, `must have at most ${MAX_BIASED_TOKENS} tokens`);

/** Sampling fields of chat jobs and chat completions. OpenAI's clients send `null` for the default. */
export const samplingFields = {
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(MAX_REQUESTED_TOKENS)
    .nullish()
    .describe(`Default ${DEFAULT_OUTPUT_TOKENS}. ${LOWERED_TOKENS}`),
  temperature: z.number().min(0).max(2).nullish().describe(`Default ${DEFAULT_TEMPERATURE}`),
  top_p: z.number().gt(0).max(1).nullish(),
  stop: stopSchema.nullish(),
  seed: z
    .number()
    .int()
    .min(0)
    .max(4_294_967_295)
    .nullish()
    .describe("The same seed gives the same completion on the same engine and model"),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  top_k: z.number().int().min(0).max(MAX_TOP_K).nullish().describe("0: no limit"),
  min_p: z.number().min(0).max(1).nullish(),
  repeat_penalty: z
    .number()
    .min(0.5)
    .max(2)
    .nullish()
    .describe("Divides the logits of tokens already in the completion; 1: no penalty"),
  logit_bias: logitBiasSchema
    .nullish()
    .describe(`By ids of the model's own vocabulary, at most ${MAX_BIASED_TOKENS}; -100 excludes a token`),
  response_format: responseFormatSchema.nullish(),
};

export const MAX_MESSAGES = 4_096;
/** Maximum number of messages that agents of every version accept. */
export const FIRST_MESSAGES = 128;
export const messagesSchema = withPartsLimit(z.array(chatMessageSchema).min(1).max(MAX_MESSAGES));

/** An image of a chat, with its path in the input. */
export interface InputImage {
  readonly path: readonly string[];
  readonly url: string;
}

/** Returns the images of a chat's input, which may be invalid. */
export function imagesOf({ messages }: { readonly messages?: unknown }): InputImage[] {
  return entriesOf(messages).flatMap(([message, { content }]) =>
    entriesOf(content).flatMap(([part, { image_url: image }]) => {
      if (!isJsonObject(image) || typeof image["url"] !== "string") return [];
      return [{ path: ["messages", message, "content", part, "image_url", "url"], url: image["url"] }];
    }),
  );
}

function entriesOf(list: unknown): (readonly [index: string, entry: Readonly<Record<string, unknown>>])[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index) => (isJsonObject(entry) ? [[String(index), entry] as const] : []));
}

/** Input of a chat Cargo's job: a prompt or messages, never both. Unknown fields are ignored. */
export const chatInputSchema = z
  .object({
    prompt: z.string().min(1).optional(),
    messages: messagesSchema.optional(),
    system_prompt: z.string().optional(),
    /** The model continues `prompt` without its chat template. Names of special tokens in it become these tokens. */
    raw: z.boolean().nullish(),
    ...samplingFields,
    ...toolFields,
    ...probabilityFields,
    ...reasoningFields,
    read: chatReadSchema.optional(),
  })
  .refine((input) => (input.prompt === undefined) !== (input.messages === undefined), {
    message: "exactly one of prompt and messages is required",
    path: ["messages"],
  })
  .refine((input) => input.raw !== true || (input.prompt !== undefined && input.system_prompt === undefined), {
    message: "requires prompt, and cannot be combined with system_prompt",
    path: ["raw"],
  })
  .refine(({ raw, tools }) => raw !== true || !tools?.length, {
    message: "cannot be combined with raw",
    path: ["tools"],
  })
  .refine(({ raw, response_format: format }) => raw !== true || format == null || format.type === "text", {
    message: "cannot be combined with raw, except for the type text",
    path: ["response_format"],
  })
  .superRefine((input, context) => {
    const message = probabilityProblem(input, input.max_tokens ?? DEFAULT_OUTPUT_TOKENS);
    if (message !== null) context.addIssue({ code: "custom", message, path: ["top_logprobs"] });
  });
export type ChatInput = z.infer<typeof chatInputSchema>;

const parsedChats = new WeakMap<object, ReturnType<typeof chatInputSchema.safeParse>>();

/** Parses a chat's input once, although its checks, its price and its traits ask for it. The input must not change. */
export function parseChat(input: Readonly<Record<string, unknown>>): ReturnType<typeof chatInputSchema.safeParse> {
  const known = parsedChats.get(input);
  if (known !== undefined) return known;
  const parsed = chatInputSchema.safeParse(input);
  parsedChats.set(input, parsed);
  return parsed;
}

/** A chat request with all defaults filled in. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** Whether the text of the only message is continued without a chat template. */
  readonly isRaw: boolean;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number | null;
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** Null for the runtime's default, which is 40 in llama.cpp. */
  readonly topK: number | null;
  readonly minP: number | null;
  /** 1 for no penalty. */
  readonly repeatPenalty: number;
  /** Bias by token id. */
  readonly logitBias: readonly (readonly [token: number, bias: number])[];
  readonly responseFormat: ResponseFormat;
  /** Null if the completion cannot contain tool calls. */
  readonly toolUse: ToolUse | null;
  /** Number of the likeliest tokens that are reported with each token; null if no probabilities are reported. */
  readonly topLogprobs: number | null;
  /** Null if reasoning is not limited. */
  readonly reasoningEffort: ReasoningEffort | null;
  /** The answer that is read instead of generating one; null for a usual chat. */
  readonly read: ChatRead | null;
}

/** Fills in the defaults. */
export function chatRequestOf(input: ChatInput): ChatRequest {
  const system: ChatMessage[] =
    input.system_prompt === undefined ? [] : [{ role: "system", content: input.system_prompt }];
  const messages = input.messages?.map(messageOf) ?? [{ role: "user" as const, content: input.prompt ?? "" }];
  const stop = input.stop ?? [];
  return {
    messages: [...system, ...messages],
    isRaw: input.raw === true,
    maxTokens: input.read == null ? (input.max_tokens ?? DEFAULT_OUTPUT_TOKENS) : 0,
    temperature: input.temperature ?? DEFAULT_TEMPERATURE,
    topP: input.top_p ?? null,
    stop: typeof stop === "string" ? [stop] : stop,
    seed: input.seed ?? null,
    frequencyPenalty: input.frequency_penalty ?? 0,
    presencePenalty: input.presence_penalty ?? 0,
    topK: input.top_k ?? null,
    minP: input.min_p ?? null,
    repeatPenalty: input.repeat_penalty ?? 1,
    logitBias: Object.entries(input.logit_bias ?? {}).map(([token, bias]) => [Number(token), bias]),
    responseFormat: input.response_format ?? { type: "text" },
    toolUse: toolUseOf(input),
    topLogprobs: topLogprobsOf(input),
    reasoningEffort: input.reasoning_effort ?? null,
    read: input.read ?? null,
  };
}

function messageOf({ content, ...message }: InputMessage): ChatMessage {
  if (typeof content === "string") return { ...message, content };
  return { ...message, content: textOf(content), parts: content };
}

/** Returns the schema of a list of messages. If the messages have too many parts in total, none of them is checked. */
export function withPartsLimit<S extends z.ZodType>(schema: S) {
  return z
    .preprocess((messages, context) => {
      if (countParts(messages) > MAX_PARTS_TOGETHER) {
        context.addIssue({
          code: "custom",
          message: `must have at most ${MAX_PARTS_TOGETHER} parts in total`,
        });
      }
      return messages;
    }, schema)
    .describe(`At most ${MAX_PARTS_TOGETHER} parts in total`);
}

/** Counts parts until there are too many. @param before number of parts that were counted before. */
function countParts(list: unknown, before = 0): number {
  let count = before;
  for (const entry of Array.isArray(list) ? list : []) {
    for (const name of LISTS) {
      const parts: unknown = isJsonObject(entry) ? entry[name] : undefined;
      if (!Array.isArray(parts)) continue;
      count += parts.length;
      if (count <= MAX_PARTS_TOGETHER) count = countParts(parts, count);
      if (count > MAX_PARTS_TOGETHER) return count;
    }
  }
  return count;
}
