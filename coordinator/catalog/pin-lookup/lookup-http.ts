import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { GatheredBytes } from "../../../shared/gathered-bytes.ts";
import { isPrivateAddress } from "../../../shared/private-address.ts";
import { hostProblem } from "../public-address.ts";

const ALL_THE_SAME = "(--allow-private asks it all the same)";
/** Largest answer that is read: tokens and descriptions of repositories. */
const MAX_BODY_BYTES = 4_000_000;

export interface LookupPolicy {
  /** Base address of the model hub. */
  readonly hub: string;
  /** Also asks registries and hubs at private addresses, and a loopback one without TLS. */
  readonly allowPrivate: boolean;
  /** All addresses of a host name. Default: the system's. */
  readonly addressesOf?: (hostname: string) => Promise<readonly string[]>;
}

/** Why a pin could not be looked up, and what the operator can do. */
export class PinLookupError extends Error {
  override readonly name = "PinLookupError";
}

/**
 * Asks once, without following redirects.
 * @throws {PinLookupError} for an address that is refused, and when nothing answers before `signal` aborts.
 */
export async function ask(
  url: URL,
  init: { readonly method: "GET" | "HEAD"; readonly headers?: Readonly<Record<string, string>> },
  policy: LookupPolicy,
  signal: AbortSignal,
): Promise<Response> {
  const problem = urlProblem(url, policy) ?? (await addressProblem(url, policy));
  if (problem !== null) throw new PinLookupError(`${url.origin} is not asked: ${problem}`);
  try {
    return await fetch(url, { ...init, headers: { ...init.headers }, redirect: "manual", signal });
  } catch (error) {
    throw new PinLookupError(`${url.host} did not answer: ${reasonOf(error, signal)}`, { cause: error });
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

function urlProblem(url: URL, { allowPrivate }: LookupPolicy): string | null {
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "it does not use TLS";
  // A stranger's Cargo names the host: it must not make this machine ask its own network.
  const problem = allowPrivate ? null : hostProblem(url);
  return problem === null ? null : `${problem} ${ALL_THE_SAME}`;
}

/**
 * Also a public name may have a private address. A name that changes its answer until the connection is stopped by TLS: no server of a
 * private network has a certificate for it.
 */
async function addressProblem({ hostname }: URL, policy: LookupPolicy): Promise<string | null> {
  if (policy.allowPrivate || isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return null;
  // A name without an address is found out by the request.
  const addresses = await (policy.addressesOf ?? systemAddresses)(hostname).catch(() => []);
  return addresses.some(isPrivateAddress) ? `${hostname} has a private address ${ALL_THE_SAME}` : null;
}

async function systemAddresses(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "the time for the look-up is over";
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
