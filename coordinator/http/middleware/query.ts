import { z } from "@hono/zod-openapi";

/** A whole number in a query, written in digits only. */
export function queryInt(min: number, max: number, fallback: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message: `must be an integer from ${min} to ${max}` })
    .default(fallback)
    .openapi({ type: "integer", minimum: min, maximum: max, default: fallback });
}
