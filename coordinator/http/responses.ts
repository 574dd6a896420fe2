import { z } from "@hono/zod-openapi";

export const errorSchema = z
  .object({
    error: z.object({
      message: z.string(),
      code: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      retry_after: z.int().optional(),
      limit: z.string().optional(),
    }),
  })
  .openapi("Error");

/** A JSON answer, for a route's `responses`. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A required JSON body, for a route's `request`. */
export function jsonBody<S extends z.ZodType>(schema: S) {
  return { body: { required: true, content: { "application/json": { schema } } } };
}

/** Every answer that is not a success looks the same. */
export const failures = { default: json(errorSchema, "Error") };

/** The payload inside the envelope of spec §4. */
export function data<S extends z.ZodType>(schema: S) {
  return z.object({ data: schema });
}
