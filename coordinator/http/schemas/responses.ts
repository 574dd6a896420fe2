import { z } from "@hono/zod-openapi";

/** A JSON response, for a route's `responses`. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A stream of Server-Sent Events. `schema`: of the data of each event. */
export function eventStream<S extends z.ZodType>(schema: S) {
  return { "text/event-stream": { schema } };
}

/** The answer as JSON, or with `stream` its events. */
export function jsonOrEvents<S extends z.ZodType, E extends z.ZodType>(schema: S, event: E, description: string) {
  return { description, content: { ...json(schema, "").content, ...eventStream(event) } };
}

/** A component or null. (`.nullable()` would make the component itself nullable, everywhere.) */
export function orNull<S extends z.ZodType>(component: S) {
  return z.union([component, z.null()]);
}

/** The payload in the envelope `{data}`. Source: spec §4. */
export function data<S extends z.ZodType>(schema: S) {
  return z.object({ data: schema });
}
