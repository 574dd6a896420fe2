import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { abortable } from "../../../shared/async/abortable.ts";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";
import { isPrivateAddress } from "../../../shared/net/private-address.ts";
import { hostProblem } from "../cargo-rules.ts";

/** Default of `responseLimitMs`: an operator waits for the response. */
const RESPONSE_LIMIT_MS = 2_000;
/** Maximum size of a response, which is a token or a repository description. */
const MAX_BODY_BYTES = 4_000_000;

export interface LookupPolicy {
  readonly hub: string;
  /** Whether to allow requests to hosts with private addresses, and to loopback addresses without TLS. */
  readonly allowPrivate: boolean;
  /** Hosts that did not respond. They get no more requests. */
  readonly silentHosts?: Set<string>;
  /** Maximum time until a response starts. Default: 2 s. */
  readonly responseLimitMs?: number;
  /** Resolves a host name to all its addresses. If absent, the operating system does it. */
  readonly addressesOf?: (hostname: string) => Promise<readonly string[]>;
}

export class PinLookupError extends Error {
  override readonly name = "PinLookupError";
  /** Whether the host is in a local network and {@link LookupPolicy.allowPrivate} would allow the request. */
  readonly isPrivate: boolean;
  constructor(message: string, { isPrivate = false, ...options }: ErrorOptions & { isPrivate?: boolean } = {}) {
    super(message, options);
    this.isPrivate = isPrivate;
  }
}

/**
 * Sends one request without following redirects.
 * @throws {PinLookupError} for a forbidden address, or if no response starts in time or before `signal` aborts
 */
export async function ask(
  url: URL,
  init: { readonly method: "GET" | "HEAD"; readonly headers?: Readonly<Record<string, string>> },
  policy: LookupPolicy,
  signal: AbortSignal,
): Promise<Response> {
  const { host } = url;
  if (policy.silentHosts?.has(host) === true) throw new PinLookupError(`${host} did not respond to an earlier look-up`);
  const { responseLimitMs = RESPONSE_LIMIT_MS } = policy;
  const limit = AbortSignal.timeout(responseLimitMs);
  const until = AbortSignal.any([signal, limit]);
  try {
    await abortable(assertPublic(url, policy), until);
    const response = fetch(url, { ...init, headers: { ...init.headers }, redirect: "manual", signal });
    return await abortable(response, until);
  } catch (error) {
    if (error instanceof PinLookupError) throw error;
    policy.silentHosts?.add(host);
    const reason = limit.aborted ? `no response within ${responseLimitMs / 1_000} s` : reasonOf(error, signal);
    throw new PinLookupError(`${host} did not respond: ${reason}`, { cause: error });
  }
}

/** Reads a response as JSON; undefined if it is not JSON. @throws {PinLookupError} */
export async function readJson(response: Response, host: string, signal: AbortSignal): Promise<unknown> {
  const bytes = await readBytes(response, host, MAX_BODY_BYTES, signal);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Reads a whole body. @throws {PinLookupError} also if it has more than `maxBytes` */
export async function readBytes(
  response: Response,
  host: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const gathered = new GatheredBytes();
  try {
    for await (const chunk of response.body ?? []) {
      gathered.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (gathered.length > maxBytes) throw new PinLookupError(`${host} sent more than ${maxBytes} bytes`);
    }
  } catch (error) {
    if (error instanceof PinLookupError) throw error;
    throw new PinLookupError(`${host} did not complete its response: ${reasonOf(error, signal)}`, { cause: error });
  }
  return gathered.bytes;
}

/** Checks a URL. @throws {PinLookupError} without TLS, and for a local address unless the policy allows it */
async function assertPublic(url: URL, policy: LookupPolicy): Promise<void> {
  const { allowPrivate } = policy;
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    throw new PinLookupError(`${url.origin} is not allowed: it does not use TLS`);
  }
  if (allowPrivate) return;
  // A Cargo that is not reviewed must not make this machine send requests into its own network.
  const problem = hostProblem(url) ?? (await addressProblem(url, policy));
  if (problem !== null) throw new PinLookupError(`${url.origin} is not allowed: ${problem}`, { isPrivate: true });
}

/**
 * Returns why the addresses of a host name are not allowed; null if they are. If they change before the connection, TLS
 * fails, because no server in a private network has a certificate for the name.
 */
async function addressProblem({ hostname }: URL, policy: LookupPolicy): Promise<string | null> {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return null;
  // If the name has no address, the request itself fails.
  const addresses = await (policy.addressesOf ?? systemAddresses)(hostname).catch(() => []);
  return addresses.some(isPrivateAddress) ? `${hostname} has a private address` : null;
}

async function systemAddresses(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "the look-up timed out";
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
