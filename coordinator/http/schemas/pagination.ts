import { z } from "@hono/zod-openapi";
import type { Page } from "../../store/steps/page.ts";

const MAX_OFFSET = 1_000_000_000;
const MAX_PAGE_SIZE = 100;

/** Returns the schema of an integer in a query, which may contain only digits. */
export function queryInt(min: number, max: number, fallback: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message: `must be an integer from ${min} to ${max}` })
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback });
}

/** Returns the query members of a page. Source of the bounds: spec §4, GET /jobs. */
export function pageQuery(defaultLimit = 20) {
  return {
    limit: queryInt(1, MAX_PAGE_SIZE, defaultLimit).describe("Maximum number of entries"),
    offset: queryInt(0, MAX_OFFSET, 0).describe("Number of entries to skip"),
  };
}

export const metaSchema = z.object({ total: z.int(), limit: z.int(), offset: z.int() });

export function pageOf<S extends z.ZodType>(item: S) {
  return z.object({ data: z.array(item), meta: metaSchema });
}

export function presentPage<T>(data: T[], total: number, { limit, offset }: Page) {
  return { data, meta: { total, limit, offset } };
}

export function openAiPageOf<S extends z.ZodType>(item: S) {
  return z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

/**
 * Presents a page in the format of OpenAI's lists.
 * @param found Items of the page, and one more if another page follows.
 */
export function presentOpenAiPage<T extends { readonly id: string }>(found: readonly T[], limit: number) {
  const data = found.slice(0, limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  };
}
