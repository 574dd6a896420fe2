import { z } from "@hono/zod-openapi";

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

export function eventStream<S extends z.ZodType>(schema: S) {
  return { "text/event-stream": { schema } };
}

export function jsonOrEvents<S extends z.ZodType, E extends z.ZodType>(schema: S, event: E, description: string) {
  return { description, content: { ...json(schema, "").content, ...eventStream(event) } };
}

/** Returns the schema of a component or null. `.nullable()` would make the component nullable in all its uses. */
export function orNull<S extends z.ZodType>(component: S) {
  return z.union([component, z.null()]);
}

/** Returns the schema of a payload in its envelope. Source: spec §4. */
export function data<S extends z.ZodType>(schema: S) {
  return z.object({ data: schema });
}
