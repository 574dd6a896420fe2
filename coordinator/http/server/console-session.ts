import type { IncomingMessage, ServerResponse } from "node:http";
import { originOf } from "./client-address.ts";

/** Header sent by the coordinator's own pages, which keep their session in a cookie that scripts cannot read. */
const CONSOLE_HEADER = "atoll-console";
export const SESSION_COOKIE = "atoll_session";
const COOKIE_PATTERN = /(?:^|;) *atoll_session=(st_\w{1,197}) *(?:;|$)/;
const MS_PER_S = 1_000;

/** Returns true for a request of the console, which gets and sends its session as a cookie. */
export function isConsole({ headers }: IncomingMessage): boolean {
  return headers[CONSOLE_HEADER] === "1";
}

/**
 * Returns the session token of the cookie if the request comes from the coordinator's own pages. Another site can make
 * a browser send the cookie, but not the header: that needs a preflight, whose response does not allow the header
 * (`middleware/request-context.ts`). An EventSource cannot send headers. An event stream changes nothing, so it is
 * accepted unless the browser reports another origin.
 */
export function cookieToken(incoming: IncomingMessage): string | undefined {
  const { headers } = incoming;
  const token = COOKIE_PATTERN.exec(headers.cookie ?? "")?.[1];
  if (token === undefined) return undefined;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return undefined;
  return isConsole(incoming) || isOwnEventSource(incoming) ? token : undefined;
}

/** Browsers omit `Sec-Fetch-Site` on plain http, and `Origin` in a GET of the page's own origin. */
function isOwnEventSource({ method, headers }: IncomingMessage): boolean {
  const wantsEvents = method === "GET" && (headers.accept ?? "").split(",").some(isEventStream);
  return wantsEvents && (headers["sec-fetch-site"] === "same-origin" || headers.origin === undefined);
}

function isEventStream(range: string): boolean {
  return range.split(";")[0]?.trim().toLowerCase() === "text/event-stream";
}

type OriginOptions = Parameters<typeof originOf>[1];

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export function setSessionCookie(
  exchange: Exchange,
  { token, lifetimeMs }: { readonly token: string; readonly lifetimeMs: number },
  options: OriginOptions,
): void {
  setCookie(exchange, `${SESSION_COOKIE}=${token}; Max-Age=${Math.max(0, Math.floor(lifetimeMs / MS_PER_S))}`, options);
}

export function clearSessionCookie(exchange: Exchange, options: OriginOptions): void {
  setCookie(exchange, `${SESSION_COOKIE}=; Max-Age=0`, options);
}

function setCookie({ incoming, outgoing }: Exchange, cookie: string, options: OriginOptions): void {
  const secure = originOf(incoming, options).startsWith("https:") ? "; Secure" : "";
  outgoing.setHeader("Set-Cookie", `${cookie}; Path=/; HttpOnly; SameSite=Strict${secure}`);
  keepPrivate(outgoing);
}

/**
 * Forbids caches to store the response to a request with a cookie. They already keep responses to different tokens
 * apart.
 */
export function keepPrivate(outgoing: ServerResponse): void {
  outgoing.setHeader("Cache-Control", "private, no-store");
}
