import { randomUUID } from "node:crypto";
import type { Context, HonoRequest, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Clock } from "../../../shared/clock.ts";
import type { Logger } from "../../../shared/logger.ts";
import { traceHeadersOf } from "../../tracing/open-tracing.ts";
import type { ErrorStyle } from "../error-responses.ts";
import type { HttpDeps, HttpEnv } from "../http-deps.ts";
import type { RequestLimits } from "../limits/request-limits.ts";
import { cookieToken, keepPrivate } from "../server/console-session.ts";

/** CORS allows neither `Atoll-Console` nor credentials, so that no other site acts with the console's session. */
const ALLOWED_METHODS = "GET, POST, PUT, PATCH, DELETE";
const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id, X-Api-Key, Anthropic-Version, Anthropic-Beta, Anthropic-Dangerous-Direct-Browser-Access";
const EXPOSED_HEADERS =
  "Atoll-Ignored, Retry-After, X-Should-Retry, X-Request-Id, Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Content-Range, Accept-Ranges";
const PREFLIGHT_MAX_AGE_S = 86_400;

/**
 * Middleware that gives every request its id, security and CORS headers, limits and one log line, and responds to
 * preflights. It sets headers on Node's response, because streams and files bypass Hono.
 */
export function requestContext(
  { log, clock, metrics, tracing }: HttpDeps,
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
    // Anthropic's clients read the request id from this header.
    if (style === "anthropic") outgoing.setHeader("Request-Id", requestId);
    outgoing.setHeader("X-Content-Type-Options", "nosniff");
    outgoing.setHeader("Access-Control-Allow-Origin", "*");
    outgoing.setHeader("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    if (cookieToken(c.env.incoming) !== undefined) keepPrivate(outgoing);
    outgoing.once("close", () => {
      const durationMs = clock.monotonicMs() - startedMs;
      const { statusCode: status } = outgoing;
      const { method } = c.req;
      const isStream = String(outgoing.getHeader("content-type")).startsWith("text/event-stream");
      metrics.http.noteResponse({ method, route: routeOf(c), status, durationMs, isStream });
      const accountId = c.get("accountId");
      note({
        request_id: requestId,
        method,
        // The query and the body are not logged: they may contain the client's data.
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

/** Maximum characters of a logged path, more than any route with ids has. Unauthenticated clients may send 16 KB. */
const MAX_LOGGED_PATH_CHARS = 500;
/** Pattern of this middleware, which also runs for requests without a route. */
const EVERY_PATH = "/*";

/** Returns the pattern of the request's route; "none" if the path or the method has no route. */
function routeOf(c: Context<HttpEnv>): string {
  const pattern = routePath(c, -1);
  return pattern === "" || pattern === EVERY_PATH ? "none" : pattern;
}

/** Returns the request id that the client sent if it is safe in a log and a header; otherwise a new one. */
function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\w.-]{1,100}$/.test(sent) ? sent : randomUUID();
}

interface RequestLine {
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly account_id?: string;
  readonly aborted?: true;
}

/** Maximum log lines per second for unauthenticated requests and requests beyond a rate limit. */
export const MAX_LIMITED_LINES = 100;
const SECOND_MS = 1_000;
const TOO_MANY_REQUESTS = 429;

/**
 * Returns a function that logs one line for each request, but at most {@link MAX_LIMITED_LINES} a second for
 * unauthenticated requests and those beyond a rate limit, so that many of them do not fill the disk. Metrics count all
 * requests.
 */
export function requestLog(log: Pick<Logger, "info">, clock: Pick<Clock, "monotonicMs">): (line: RequestLine) => void {
  let secondEndsMs = -Infinity;
  let lines = 0;
  let omitted = 0;

  const hasCapacity = (): boolean => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= secondEndsMs) {
      if (omitted > 0) log.info({ requests: omitted }, "Requests were left out of the log");
      secondEndsMs = nowMs + SECOND_MS;
      lines = 0;
      omitted = 0;
    }
    lines += 1;
    return lines <= MAX_LIMITED_LINES;
  };

  return (line) => {
    const isLimited = line.account_id === undefined || line.status === TOO_MANY_REQUESTS;
    if (!isLimited || hasCapacity()) log.info(line, "Request");
    else omitted += 1;
  };
}
