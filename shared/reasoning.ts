import { z } from "zod";

/** How much a model may think before it answers. Source: OpenAI's API. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Most tokens of thoughts by effort. Only a part of `max_tokens`, which counts them. */
export const REASONING_BUDGETS: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 128,
  low: 512,
  medium: 2_048,
  high: Infinity,
};

/** The most effort whose thoughts fit into so many tokens. */
export function largestEffort(tokens: number): ReasoningEffort {
  return REASONING_EFFORTS.findLast((effort) => REASONING_BUDGETS[effort] <= tokens) ?? "none";
}

/** Fields of a chat's input. */
export const reasoningFields = { reasoning_effort: z.enum(REASONING_EFFORTS).nullish() };
