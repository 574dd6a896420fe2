import { z } from "zod";

/** Levels of reasoning before a completion. Source: OpenAI's API. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Maximum number of reasoning tokens by effort. They are part of `max_tokens`. */
export const REASONING_BUDGETS: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 128,
  low: 512,
  medium: 2_048,
  high: Infinity,
};

/** Returns the highest effort whose reasoning fits into this number of tokens. */
export function largestEffort(tokens: number): ReasoningEffort {
  return REASONING_EFFORTS.findLast((effort) => REASONING_BUDGETS[effort] <= tokens) ?? "none";
}

/** Fields of a chat's input about reasoning. */
export const reasoningFields = { reasoning_effort: z.enum(REASONING_EFFORTS).nullish() };
