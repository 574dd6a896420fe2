import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { abortable } from "../../../shared/async/abortable.ts";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";
import { isPrivateAddress } from "../../../shared/net/private-address.ts";
import { hostProblem } from "../cargo-rules.ts";

/** A host that has not begun its response by then is given up: an operator waits for the look-up. */
const RESPONSE_LIMIT_MS = 2_000;
/** Largest answer that is read: tokens and descriptions of repositories. */
const MAX_BODY_BYTES = 4_000_000;

export interface LookupPolicy {
  /** Base address of the model hub. */
  readonly hub: string;
  /** Also asks registries and hubs at private addresses, and a loopback one without TLS. */
  readonly allowPrivate: boolean;
  /** Hosts that gave no response, which are then not asked again; for the look-ups of many Cargos. */
  readonly silentHosts?: Set<string>;
  /** All addresses of a host name. Default: the system's. */
  readonly addressesOf?: (hostname: string) => Promise<readonly string[]>;
}

/** Why a pin could not be looked up. */
export class PinLookupError extends Error {
  override readonly name = "PinLookupError";
  /** The host is of the local network, and {@link LookupPolicy.allowPrivate} would ask it. */
  readonly isPrivate: boolean;
  constructor(message: string, { isPrivate = false, ...options }: ErrorOptions & { isPrivate?: boolean } = {}) {
    super(message, options);
    this.isPrivate = isPrivate;
  }
}

/**
 * Asks once, without following redirects.
 * @throws {PinLookupError} for an address that is refused, and when no response begins within 2 s or before `signal` aborts.
 */
export async function ask(
  url: URL,
  init: { readonly method: "GET" | "HEAD"; readonly headers?: Readonly<Record<string, string>> },
  policy: LookupPolicy,
  signal: AbortSignal,
): Promise<Response> {
  const { host } = url;
  if (policy.silentHosts?.has(host) === true) throw new PinLookupError(`${host} did not answer an earlier look-up`);
  const limit = AbortSignal.timeout(RESPONSE_LIMIT_MS);
  const until = AbortSignal.any([signal, limit]);
  try {
    await abortable(assertPublic(url, policy), until);
    const response = fetch(url, { ...init, headers: { ...init.headers }, redirect: "manual", signal });
    return await abortable(response, until);
  } catch (error) {
    if (error instanceof PinLookupError) throw error;
    policy.silentHosts?.add(host);
    const reason = limit.aborted ? `no response within ${RESPONSE_LIMIT_MS / 1_000} s` : reasonOf(error, signal);
    throw new PinLookupError(`${host} did not answer: ${reason}`, { cause: error });
  }
}

/** The answer's JSON; undefined when it is none. @throws {PinLookupError} */
export async function readJson(response: Response, host: string, signal: AbortSignal): Promise<unknown> {
  const gathered = new GatheredBytes();
  try {
    for await (const chunk of response.body ?? []) {
      gathered.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (gathered.length > MAX_BODY_BYTES) {
        throw new PinLookupError(`${host} answered with more than ${MAX_BODY_BYTES} bytes`);
      }
    }
  } catch (error) {
    if (error instanceof PinLookupError) throw error;
    throw new PinLookupError(`${host} broke off its answer: ${reasonOf(error, signal)}`, { cause: error });
  }
  try {
    return JSON.parse(gathered.bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** @throws {PinLookupError} for an address without TLS, and for one of the local network unless the policy allows it. */
async function assertPublic(url: URL, policy: LookupPolicy): Promise<void> {
  const { allowPrivate } = policy;
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) {
    throw new PinLookupError(`${url.origin} is not asked: it does not use TLS`);
  }
  if (allowPrivate) return;
  // A stranger's Cargo names the host: it must not make this machine ask its own network.
  const problem = hostProblem(url) ?? (await addressProblem(url, policy));
  if (problem !== null) throw new PinLookupError(`${url.origin} is not asked: ${problem}`, { isPrivate: true });
}

/**
 * Also a public name may have a private address. A name that changes its answer until the connection is stopped by TLS: no server of a
 * private network has a certificate for it.
 */
async function addressProblem({ hostname }: URL, policy: LookupPolicy): Promise<string | null> {
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return null;
  // A name without an address is found out by the request.
  const addresses = await (policy.addressesOf ?? systemAddresses)(hostname).catch(() => []);
  return addresses.some(isPrivateAddress) ? `${hostname} has a private address` : null;
}

async function systemAddresses(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "the time for the look-up is over";
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
