import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { originOf } from "./client-address.ts";

/** Header that the console's pages send. Their session is in a cookie that scripts cannot read. */
const CONSOLE_HEADER = "atoll-console";
export const SESSION_COOKIE = "atoll_session";
const COOKIE_PATTERN = /(?:^|;) *atoll_session=(st_\w{1,197}) *(?:;|$)/;
const MS_PER_S = 1_000;

export function isConsole({ headers }: IncomingMessage): boolean {
  return headers[CONSOLE_HEADER] === "1";
}

/**
 * Returns the session token of the cookie if the request comes from the console's pages. Another site can make a
 * browser send the cookie, but not the header, because the response to a preflight does not allow the header. An
 * EventSource cannot send headers. An event stream changes nothing, so it is accepted unless the browser reports
 * another origin.
 */
export function cookieToken(incoming: IncomingMessage): string | undefined {
  const { headers } = incoming;
  const token = COOKIE_PATTERN.exec(headers.cookie ?? "")?.[1];
  if (token === undefined) return undefined;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return undefined;
  return isConsole(incoming) || isOwnEventSource(incoming) ? token : undefined;
}

/**
 * Returns whether an EventSource of the console sent the request. Browsers omit `Sec-Fetch-Site` on plain http, and
 * `Origin` in a GET of the page's own origin.
 */
function isOwnEventSource({ method, headers }: IncomingMessage): boolean {
  const wantsEvents = /(?:^|,)\s*text\/event-stream\s*(?:[;,]|$)/i.test(headers.accept ?? "");
  return (
    method === "GET" && wantsEvents && (headers["sec-fetch-site"] === "same-origin" || headers.origin === undefined)
  );
}

type OriginOptions = Parameters<typeof originOf>[1];

export function setSessionCookie(
  exchange: HttpBindings,
  { token, lifetimeMs }: { readonly token: string; readonly lifetimeMs: number },
  options: OriginOptions,
): void {
  setCookie(exchange, `${SESSION_COOKIE}=${token}; Max-Age=${Math.max(0, Math.floor(lifetimeMs / MS_PER_S))}`, options);
}

/** Deletes the session cookie. No-op for a request that sends its session in a header. */
export function clearSessionCookie(exchange: HttpBindings, options: OriginOptions): void {
  if (exchange.incoming.headers.authorization !== undefined) return;
  setCookie(exchange, `${SESSION_COOKIE}=; Max-Age=0`, options);
}

function setCookie({ incoming, outgoing }: HttpBindings, cookie: string, options: OriginOptions): void {
  const secure = originOf(incoming, options).startsWith("https:") ? "; Secure" : "";
  outgoing.setHeader("Set-Cookie", `${cookie}; Path=/; HttpOnly; SameSite=Strict${secure}`);
  keepPrivate(outgoing);
}

/** Forbids caches to store the response to a request with a cookie. They keep responses for different tokens apart. */
export function keepPrivate(outgoing: ServerResponse): void {
  outgoing.setHeader("Cache-Control", "private, no-store");
}
