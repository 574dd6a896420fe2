import { z } from "zod";
import { MAX_TOOL_CALLS } from "./chat-tools.ts";
import { bytesOfProbabilities, MAX_PROBABLE_TOKENS, tokenProbabilitySchema } from "./token-probability.ts";

/** Limits a number from an Island, so that sums stay exact integers. */
const MAX_COUNT = 1_000_000;
/** A number of tokens from an Island. */
const tokensSchema = z.number().int().min(0).max(1_000_000_000);

/** Most characters of one token item. */
const MAX_TOKEN_CHARS = 1_000_000;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** One piece of a job's output. Kinds: spec §6. */
export const outputItemSchema = z.discriminatedUnion("type", [
  /** Text to append. `count`: model tokens behind it, several after a stop sequence or an incomplete UTF-8 character. */
  z.object({
    type: z.literal("token"),
    content: z.string().max(MAX_TOKEN_CHARS),
    count: z.number().int().min(0).max(MAX_COUNT),
    /** For a chat that asks for them. */
    logprobs: z.array(tokenProbabilitySchema).max(MAX_PROBABLE_TOKENS).optional(),
  }),
  z.object({
    type: z.literal("progress"),
    step: z.number().int().nonnegative(),
    total: z.number().int().nonnegative(),
  }),
  /** `data` is base64. Checked, as JSON makes six of some other characters: 8 MB would be 48 in storage, and on the way there. */
  z.object({ type: z.literal("image"), data: z.string().regex(BASE64, "not base64"), format: z.string().max(20) }),
  /**
   * A part of a call of a tool, to append. The first part of a call, and no other, has its id and name. `index`: which call of the
   * answer, from 0. `arguments`: JSON text. `count`: as of a token.
   */
  z.object({
    type: z.literal("tool_call"),
    index: z
      .number()
      .int()
      .min(0)
      .max(MAX_TOOL_CALLS - 1),
    id: z.string().min(1).max(64).optional(),
    name: z.string().min(1).max(64).optional(),
    arguments: z.string().max(MAX_TOKEN_CHARS),
    count: z.number().int().min(0).max(MAX_COUNT),
  }),
  /** What a model that thinks wrote before its answer, or within it, to append. `count`: as of a token. */
  z.object({
    type: z.literal("reasoning"),
    content: z.string().max(MAX_TOKEN_CHARS),
    count: z.number().int().min(0).max(MAX_COUNT),
  }),
]);
export type OutputItem = z.infer<typeof outputItemSchema>;

/** What a model wrote, as it came. */
export type ModelItem = Extract<OutputItem, { count: number }>;

/** Whether an item of a feed is what a model wrote, with tokens behind it. */
export function isModelItem<T extends { readonly type: string }>(
  item: T,
): item is Extract<T, { readonly count: number }> {
  return "count" in item;
}

/** Characters of what a model wrote in an item, and about as many for what is told of its tokens. */
export function charsOf(item: ModelItem): number {
  if (item.type === "token") {
    return item.content.length + (item.logprobs === undefined ? 0 : bytesOfProbabilities(item.logprobs));
  }
  if (item.type === "reasoning") return item.content.length;
  return item.arguments.length + (item.id?.length ?? 0) + (item.name?.length ?? 0);
}

/** Whether a value is a token item as the schema has it, without probabilities. By hand, because every token is checked several times on its way. */
export function isTokenItem(value: unknown): value is Extract<OutputItem, { type: "token" }> {
  if (typeof value !== "object" || value === null) return false;
  const { type, content, count, logprobs } = value as Record<string, unknown>;
  return (
    type === "token" &&
    logprobs === undefined &&
    typeof content === "string" &&
    content.length <= MAX_TOKEN_CHARS &&
    Number.isInteger(count) &&
    (count as number) >= 0 &&
    (count as number) <= MAX_COUNT
  );
}

export const usageSchema = z.object({
  promptTokens: tokensSchema,
  completionTokens: tokensSchema,
});
/** How much of its prompt a run has read. */
export const promptSchema = z.object({ total: tokensSchema, done: tokensSchema });
export type PromptTokens = z.infer<typeof promptSchema>;

/** Exact token counts of a run. A resumed run counts the text that it continues as completion, not as prompt. */
export type Usage = z.infer<typeof usageSchema>;

/** Most characters of a stop sequence. */
export const MAX_STOP_CHARS = 200;

export const FINISH_REASONS = ["stop", "length", "tool_calls"] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

export const timingsSchema = z.object({
  /** Download and load; 0 if the model was in memory. */
  loadMs: z.number().nonnegative(),
  /** From the end of the load to the first output; null without output. */
  firstOutputMs: z.number().nonnegative().nullable(),
  /** From the end of the load to the end of the run. */
  runMs: z.number().nonnegative(),
});
export type Timings = z.infer<typeof timingsSchema>;
