import { hostProblem } from "../cargo-rules.ts";
import { ask, type LookupPolicy, PinLookupError, readBytes, readJson } from "../pin-lookup/lookup-http.ts";
import { DEFAULT_HUB } from "../../config/resolve-config.ts";

/** Limits of all requests for one model: redirects count. The operator waits for them. */
const MAX_REQUESTS = 400;
const MAX_REDIRECTS = 5;
const RESPONSE_LIMIT_MS = 10_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Hosts to which the hub and Ollama's registry redirect. Source for the hub: huggingface.co/.well-known/meta.json
 * (`hubDomains`, `lfsDomains`, `cdnDomains`).
 */
const FILE_HOSTS = /(?:^|\.)(?:huggingface\.co|hf\.co|ollama\.com|ollama\.ai|r2\.cloudflarestorage\.com)$/;

export interface HubPolicy extends LookupPolicy {
  /** Access token, which is sent only to the hub; null: none. */
  readonly token: string | null;
  /** Set for the registry of a model's source. It may have a private address only with `allowPrivate`. */
  readonly isRegistry?: true;
}

interface Range {
  readonly bytes: Buffer;
  /** Length of the whole file. */
  readonly totalBytes: number;
  readonly headers: Headers;
}

export type HubRequests = ReturnType<typeof openHubRequests>;

/**
 * Opens requests to a hub or registry. Private addresses are refused unless the operator set the hub. Redirects are
 * followed only to the hub and to the hosts of its files.
 * @param signal ends all requests
 */
export function openHubRequests(policy: HubPolicy, signal: AbortSignal) {
  const hub = new URL(policy.hub);
  const isNamed = policy.isRegistry !== true && hub.origin !== DEFAULT_HUB;
  let requests = 0;

  /** @throws {PinLookupError} also for a status other than those of success */
  async function get(url: URL, headers: Readonly<Record<string, string>>, what: string): Promise<Response> {
    let at = url;
    let isAtHub = true;
    // Facts about the file, which only the hub's own response has.
    const facts = new Headers();
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      requests += 1;
      if (requests > MAX_REQUESTS) throw new PinLookupError(`${what} needs more than ${MAX_REQUESTS} requests`);
      isAtHub &&= at.origin === hub.origin;
      const authorization = isAtHub && policy.token !== null ? { authorization: `Bearer ${policy.token}` } : {};
      const mayBePrivate = policy.allowPrivate || (isNamed && at.origin === hub.origin);
      const rules = { responseLimitMs: RESPONSE_LIMIT_MS, ...policy, allowPrivate: mayBePrivate };
      const response = await ask(at, { method: "GET", headers: { ...headers, ...authorization } }, rules, signal);
      if (isAtHub)
        for (const [name, value] of response.headers) if (/^x-(?:linked|repo)-/.test(name)) facts.set(name, value);
      if (!REDIRECTS.has(response.status)) {
        if (response.ok) return withHeaders(response, facts);
        await response.body?.cancel();
        throw refusalOf(response, at, what, policy.token !== null);
      }
      await response.body?.cancel();
      at = redirectTarget(response, at);
    }
    throw new PinLookupError(`${url.host} redirects ${what} more than ${MAX_REDIRECTS} times`);
  }

  function redirectTarget({ headers }: Response, from: URL): URL {
    const target = URL.parse(headers.get("location") ?? "", from.href);
    if (target === null) throw new PinLookupError(`${from.host} redirects to an invalid address`);
    const isFileHost = target.protocol === "https:" && FILE_HOSTS.test(target.hostname);
    const isAllowedPrivate = policy.allowPrivate && hostProblem(target) !== null;
    if (target.origin === hub.origin || isFileHost || isAllowedPrivate) return target;
    throw new PinLookupError(`${from.host} redirects to ${target.host}, which is not a host of its files`);
  }

  return {
    /** Returns a document, and the address of its next page; null if it is the last one. */
    async json(url: URL, what: string, accept = "application/json"): Promise<{ value: unknown; next: URL | null }> {
      const response = await get(url, { accept }, what);
      return { value: await readJson(response, url.host, signal), next: nextPage(url, response.headers.get("link")) };
    },

    async text(url: URL, what: string, maxBytes: number): Promise<string> {
      return (await readBytes(await get(url, {}, what), url.host, maxBytes, signal)).toString("utf8");
    },

    /** Reads bytes of a file. @throws {PinLookupError} also if the server ignores the range */
    async range(url: URL, what: string, start: number, length: number): Promise<Range> {
      const range = `bytes=${start}-${start + length - 1}`;
      const response = await get(url, { range, "accept-encoding": "identity" }, what);
      const given = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(response.headers.get("content-range") ?? "");
      if (response.status !== 206 || Number(given?.[1]) !== start) {
        await response.body?.cancel();
        throw new PinLookupError(`${url.host} does not send ranges of ${what}, so its header cannot be read`);
      }
      const bytes = await readBytes(response, url.host, length, signal);
      return { bytes, totalBytes: Number(given?.[2]), headers: response.headers };
    },
  };
}

/** Returns the next page. Uses only the link's query: a mirror may send the original hub's address. RFC 8288. */
function nextPage(page: URL, link: string | null): URL | null {
  const target = /<([^<>]*)>\s*;[^<]*\brel="?next\b/.exec(link ?? "")?.[1];
  const next = target === undefined ? null : URL.parse(target, page.href);
  if (next === null) return null;
  const following = new URL(page);
  following.search = next.search;
  return following;
}

function withHeaders(response: Response, facts: Headers): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of facts) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

function refusalOf({ status, headers }: Response, { host }: URL, what: string, hasToken: boolean): PinLookupError {
  switch (status) {
    case 401:
    case 403:
      return new PinLookupError(
        hasToken
          ? `${host} does not show ${what} to the owner of HF_TOKEN. Accept its terms on the hub, or set another token`
          : `${host} does not show ${what}: it does not exist, is private or gated. For a gated model, accept its terms on the hub and set HF_TOKEN to your access token`,
      );
    case 404:
    case 410:
      return new PinLookupError(`${host} does not have ${what}`);
    case 429: {
      const seconds = /^\d{1,6}$/.exec(headers.get("retry-after") ?? "")?.[0];
      const when = seconds === undefined ? "later" : `in ${seconds} s`;
      return new PinLookupError(`${host} received too many requests. Repeat the command ${when}, or set HF_TOKEN`);
    }
    default:
      return new PinLookupError(`${host} responded with ${status} for ${what}`);
  }
}
