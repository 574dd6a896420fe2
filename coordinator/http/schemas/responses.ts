import { z } from "@hono/zod-openapi";

/** For a route's `responses`. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** @param schema Data of each event. */
export function eventStream<S extends z.ZodType>(schema: S) {
  return { "text/event-stream": { schema } };
}

/** JSON, or Server-Sent Events with `stream`. */
export function jsonOrEvents<S extends z.ZodType, E extends z.ZodType>(schema: S, event: E, description: string) {
  return { description, content: { ...json(schema, "").content, ...eventStream(event) } };
}

/** `.nullable()` would make the component itself nullable, everywhere. */
export function orNull<S extends z.ZodType>(component: S) {
  return z.union([component, z.null()]);
}

/** Envelope of a payload. Source: spec §4. */
export function data<S extends z.ZodType>(schema: S) {
  return z.object({ data: schema });
}
