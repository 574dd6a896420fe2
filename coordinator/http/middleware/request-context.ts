import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { ErrorStyle } from "../error-answers.ts";
import type { HttpDeps, HttpEnv } from "../http-deps.ts";
import type { RequestLimits } from "../limits/request-limits.ts";
import { traceHeadersOf } from "../../tracing/trace-headers.ts";
import { requestLog } from "./request-log.ts";
import { cookieToken, keepPrivate } from "../server/console-session.ts";

/*
 * What pages of other origins may send. Not `Atoll-Console`, nor credentials: no such page acts with the session of the coordinator's own
 * pages (`console-session.ts`).
 */
const ALLOWED_METHODS = "GET, POST, PATCH, DELETE";
const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id, X-Api-Key, Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access";
const EXPOSED_HEADERS =
  "Atoll-Ignored, Retry-After, X-Should-Retry, X-Request-Id, Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Content-Range, Accept-Ranges";
const PREFLIGHT_MAX_AGE_S = 86_400;

/**
 * Gives every request its id, its security and CORS headers, the limits, and one line in the log; answers preflights. It sets
 * headers on Node's response, because streams and files bypass Hono.
 */
export function requestContext(
  { log, clock, metrics, tracing }: Pick<HttpDeps, "log" | "clock" | "metrics" | "tracing">,
  limits: RequestLimits,
  styleOf: (request: HonoRequest) => ErrorStyle,
): MiddlewareHandler<HttpEnv> {
  const note = requestLog(log, clock);
  return async (c, next) => {
    const { outgoing } = c.env;
    const startedMs = clock.monotonicMs();
    const requestId = requestIdOf(c.req.header("x-request-id"));
    c.set("requestId", requestId);
    c.set("limits", limits);
    const style = styleOf(c.req);
    c.set("style", style);
    outgoing.setHeader("X-Request-Id", requestId);
    // Where Anthropic's clients look for it.
    if (style === "anthropic") outgoing.setHeader("Request-Id", requestId);
    outgoing.setHeader("X-Content-Type-Options", "nosniff");
    outgoing.setHeader("Access-Control-Allow-Origin", "*");
    outgoing.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    if (cookieToken(c.env.incoming) !== undefined) keepPrivate(outgoing);
    outgoing.once("close", () => {
      const durationMs = clock.monotonicMs() - startedMs;
      const { statusCode: status } = outgoing;
      const { method } = c.req;
      metrics.http.noteAnswer({ method, route: routeOf(c), status, durationMs, isStream: isStream(outgoing) });
      const accountId = c.get("accountId");
      note({
        request_id: requestId,
        method,
        // Without the query and the body: they may hold the client's data.
        path: c.req.path.slice(0, MAX_LOGGED_PATH_CHARS),
        status,
        duration_ms: Math.round(durationMs * 1_000) / 1_000,
        ...(accountId === undefined ? {} : { account_id: accountId }),
        ...(outgoing.writableFinished ? {} : { aborted: true }),
      });
    });
    if (c.req.method === "OPTIONS") {
      outgoing.setHeader("Access-Control-Allow-Methods", ALLOWED_METHODS);
      outgoing.setHeader("Access-Control-Allow-Headers", ALLOWED_HEADERS);
      outgoing.setHeader("Access-Control-Max-Age", PREFLIGHT_MAX_AGE_S);
      return c.body(null, 204);
    }
    if (tracing === null) await next();
    else await tracing.within(traceHeadersOf(c.env.incoming.headers), next);
    return undefined;
  };
}

/** Longer than any of a route with ids in it; strangers may send 16 KB. */
const MAX_LOGGED_PATH_CHARS = 500;
/** What all requests pass, also those that no route answers. */
const EVERY_PATH = "/*";

/** The pattern of the path; "none" for a path, or a method, that has no route. */
function routeOf(c: Context<HttpEnv>): string {
  const pattern = routePath(c, -1);
  return pattern === "" || pattern === EVERY_PATH ? "none" : pattern;
}

function isStream(outgoing: ServerResponse): boolean {
  return String(outgoing.getHeader("content-type")).startsWith("text/event-stream");
}

/** Keeps the caller's own id if it is harmless in a log and a header. */
function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\w.-]{1,100}$/.test(sent) ? sent : randomUUID();
}
