import { z } from "@hono/zod-openapi";
import { MIB } from "../../../shared/format-bytes.ts";
import { MICRO_PER_CREDIT } from "../../credits/micro-credits.ts";
import type { Usage } from "../../../shared/output.ts";

export function presentCredits(micro: number): number {
  return micro / MICRO_PER_CREDIT;
}

/** Converts bytes to megabytes. Rounds up: an Island needs at least this much. */
export function presentMegabytes(bytes: number): number {
  return Math.ceil(bytes / MIB);
}

export function presentTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function presentTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : presentTime(ms);
}

export function presentUnixTime(ms: number): number {
  return Math.floor(ms / 1_000);
}

export function presentUnixTimeOrNull(ms: number | null): number | null {
  return ms === null ? null : presentUnixTime(ms);
}

/** Lifetime of a file in seconds: an hour to 30 days. */
export const fileLifeSchema = z.int().min(3_600).max(2_592_000);

export const timeSchema = z.iso.datetime().describe("Time in UTC, as ISO 8601");
export const creditsSchema = z.number().describe("Credits, with up to 6 decimals");

/** `usage.cost` in responses to clients of other vendors' APIs, as in OpenRouter's API. */
export const costSchema = z.number().describe("Credits that were charged, with up to 6 decimals");

export const usageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    credits_used: creditsSchema,
  })
  .openapi("Usage");

export function presentUsage(usage: Usage | null, creditsUsedMicro: number): z.infer<typeof usageSchema> {
  const { promptTokens, completionTokens } = usage ?? { promptTokens: 0, completionTokens: 0 };
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    credits_used: presentCredits(creditsUsedMicro),
  };
}
