import { z } from "@hono/zod-openapi";
import { failureResponses, type FailureStatus } from "../openapi/failure-responses.ts";

/** A JSON answer, for a route's `responses`. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A required JSON body, for a route's `request`. */
export function jsonBody<S extends z.ZodType>(schema: S) {
  return { body: { required: true, content: { "application/json": { schema } } } };
}

/**
 * Refusals of a route's own. Those that follow from how it is served (no credential, a wrong field, a rate limit, a fault and
 * the like) are added by `openapi/documented-route.ts`.
 */
export function failures(...statuses: readonly FailureStatus[]) {
  return failureResponses(statuses, false);
}

/** A stream of Server-Sent Events: `schema` is that of each event's data. */
export function eventStream<S extends z.ZodType>(schema: S) {
  return { "text/event-stream": { schema } };
}

/** Null, or what a component describes. (`.nullable()` of a component would make the component itself allow null.) */
export function orNull<S extends z.ZodType>(component: S) {
  return z.union([component, z.null()]);
}

/** The payload inside the envelope of spec §4. */
export function data<S extends z.ZodType>(schema: S) {
  return z.object({ data: schema });
}
