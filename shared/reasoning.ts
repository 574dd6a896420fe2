import { z } from "zod";

/** How much a model may think before it answers. Source: OpenAI's API. */
export const REASONING_EFFORTS = ["none", "minimal", "low", "medium", "high"] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** Fields of a chat's input. */
export const reasoningFields = { reasoning_effort: z.enum(REASONING_EFFORTS).nullish() };
