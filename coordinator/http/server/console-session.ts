import type { IncomingMessage, ServerResponse } from "node:http";
import { originOf } from "./client-address.ts";

/** Sent by pages of the coordinator itself, which keep their session in a cookie that no script can read. */
const CONSOLE_HEADER = "atoll-console";
export const SESSION_COOKIE = "atoll_session";
const COOKIE_PATTERN = /(?:^|;) *atoll_session=(st_\w{1,197}) *(?:;|$)/;
const MS_PER_S = 1_000;

/** True for a page that asks for the session as a cookie, or says that it means the one that it has. */
export function isConsole({ headers }: IncomingMessage): boolean {
  return headers[CONSOLE_HEADER] === "1";
}

/**
 * The session's token of the cookie, if the request comes from a page of ours. Another site can make a browser send the cookie, but not
 * the header: for that a browser asks first, and the answer to its preflight does not allow it (`middleware/request-context.ts`). An EventSource
 * cannot send headers; a stream of events changes nothing, and counts if the browser does not say that another origin asks.
 */
export function cookieToken(incoming: IncomingMessage): string | undefined {
  const { headers } = incoming;
  const token = COOKIE_PATTERN.exec(headers.cookie ?? "")?.[1];
  if (token === undefined) return undefined;
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return undefined;
  return isConsole(incoming) || isOwnEventSource(incoming) ? token : undefined;
}

/** Browsers leave `Sec-Fetch-Site` out on plain http, and `Origin` in a GET of the page's own origin. */
function isOwnEventSource({ method, headers }: IncomingMessage): boolean {
  const wantsEvents = method === "GET" && (headers.accept ?? "").split(",").some(isEventStream);
  return wantsEvents && (headers["sec-fetch-site"] === "same-origin" || headers.origin === undefined);
}

function isEventStream(range: string): boolean {
  return range.split(";")[0]?.trim().toLowerCase() === "text/event-stream";
}

type OriginOptions = Parameters<typeof originOf>[1];

interface CookieAnswer {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** Gives the session to the browser. */
export function setSessionCookie(
  answer: CookieAnswer,
  { token, lifetimeMs }: { readonly token: string; readonly lifetimeMs: number },
  options: OriginOptions,
): void {
  setCookie(answer, `${SESSION_COOKIE}=${token}; Max-Age=${Math.max(0, Math.floor(lifetimeMs / MS_PER_S))}`, options);
}

/** The browser forgets the session. */
export function clearSessionCookie(answer: CookieAnswer, options: OriginOptions): void {
  setCookie(answer, `${SESSION_COOKIE}=; Max-Age=0`, options);
}

function setCookie({ incoming, outgoing }: CookieAnswer, cookie: string, options: OriginOptions): void {
  const secure = originOf(incoming, options).startsWith("https:") ? "; Secure" : "";
  outgoing.setHeader("Set-Cookie", `${cookie}; Path=/; HttpOnly; SameSite=Strict${secure}`);
  keepPrivate(outgoing);
}

/** For the answer to a cookie: caches between here and the browser keep answers to tokens apart by themselves, but not these. */
export function keepPrivate(outgoing: ServerResponse): void {
  outgoing.setHeader("Cache-Control", "private, no-store");
}
