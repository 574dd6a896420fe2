import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { JobFailure } from "../../../shared/errors.ts";
import { assertPublicLiteral, modelLookup } from "./address-guard.ts";
import { atCurrentCoordinator, isTrustedOrigin, type FetchPolicy } from "./fetch-policy.ts";

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Facts about a file that the hub sends when it redirects to the bytes; null if absent. */
interface HubFacts {
  readonly sha256: string | null;
  readonly bytes: number | null;
}

export interface ModelResponse {
  readonly status: number;
  readonly message: IncomingMessage;
  readonly hub: HubFacts;
}

/**
 * Requests a model URL and follows redirects: each hop must satisfy the policy, and the hub's token is sent only while
 * every hop was the hub's. Uses `node:http`, because `fetch` has no lookup option. The caller consumes or destroys
 * `message`; aborting `signal` also destroys it.
 * @throws {JobFailure} when the policy forbids a hop; network errors are passed on.
 */
export async function requestModel(
  start: URL,
  headers: Readonly<Record<string, string>>,
  policy: FetchPolicy,
  signal: AbortSignal,
): Promise<ModelResponse> {
  let url = atCurrentCoordinator(policy, start);
  let mayCarryToken = true;
  let hub: HubFacts = { sha256: null, bytes: null };
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    assertMayFetch(url, policy);
    mayCarryToken &&= url.origin === policy.hub.origin;
    const token = mayCarryToken ? policy.hubToken : null;
    const sent = token === null ? headers : { ...headers, authorization: `Bearer ${token}` };
    const message = await send(url, sent, policy, signal);
    if (url.origin === policy.hub.origin) hub = mergeHubFacts(hub, message);
    const status = message.statusCode ?? 0;
    if (!REDIRECTS.has(status)) return { status, message, hub };
    message.destroy();
    url = redirectTarget(message.headers.location, url);
  }
  throw unavailable(`${describeUrl(start)} redirects more than ${MAX_REDIRECTS} times`);
}

/** Returns a URL for messages, without its query, which may contain a signature. */
export function describeUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** @throws {JobFailure} */
export function assertMayFetch(url: URL, policy: FetchPolicy): void {
  if (isTrustedOrigin(policy, url)) return;
  if (url.protocol !== "https:") throw unavailable(`${describeUrl(url)} does not use https`);
  if (!policy.allowPrivateAddresses) assertPublicLiteral(url);
}

function send(
  url: URL,
  headers: Readonly<Record<string, string>>,
  policy: FetchPolicy,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isGuarded = !policy.allowPrivateAddresses && !isTrustedOrigin(policy, url);
  const options: RequestOptions = {
    // One socket per request, so that none stays open between downloads.
    agent: false,
    headers: { "user-agent": "atoll-island", "accept-encoding": "identity", ...headers },
    signal,
    ...(isGuarded ? { lookup: modelLookup(policy.resolveHost) } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === "https:" ? httpsRequest(url, options) : httpRequest(url, options);
    // The listener stays after the response: a socket error without listener would end the process.
    sent.on("error", reject);
    sent.once("response", resolve);
    sent.end();
  });
}

function redirectTarget(location: string | undefined, from: URL): URL {
  const target = location === undefined ? null : URL.parse(location, from.href);
  if (target === null) throw unavailable(`${describeUrl(from)} redirects to an invalid address`);
  return target;
}

/**
 * Merges the facts of a response. The hub's redirect contains the SHA-256 and size of a large file. For small files, it
 * contains a different kind of hash.
 */
function mergeHubFacts(known: HubFacts, { headers }: IncomingMessage): HubFacts {
  const etag = String(headers["x-linked-etag"] ?? "").replace(/^(?:W\/)?"(.*)"$/, "$1");
  const size = String(headers["x-linked-size"] ?? "");
  return {
    sha256: /^[0-9a-f]{64}$/.test(etag) ? etag : known.sha256,
    bytes: /^\d{1,15}$/.test(size) ? Number(size) : known.bytes,
  };
}

function unavailable(message: string): JobFailure {
  return new JobFailure("model_unavailable", message, { retryable: true });
}
