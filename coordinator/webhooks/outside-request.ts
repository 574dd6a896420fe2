import * as http from "node:http";
import * as https from "node:https";
import { lookupBy, publicLookup } from "../../shared/net/host-lookup.ts";
import { privateLiteralOf } from "../../shared/net/private-address.ts";
import type { ResolveHostUntil } from "./resolve-host.ts";

/** The configuration does not allow the address. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

export interface OutsideRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the receiver takes too long or the coordinator stops. */
  readonly signal: AbortSignal;
  readonly allowPrivate: boolean;
  readonly resolveHost: ResolveHostUntil;
}

/**
 * Begins a request to an address that a client chose. Redirects are not followed.
 * @throws {AddressRefusedError}, or emits it as `error` once the name has been resolved
 */
export function requestOutside(method: "GET" | "POST", request: OutsideRequest): http.ClientRequest {
  const { headers, signal, allowPrivate } = request;
  const url = new URL(request.url);
  const refusal = outsideUrlProblem(url, allowPrivate);
  if (refusal !== null) throw new AddressRefusedError(`the URL ${refusal}`);
  const resolveHost = (hostname: string) => request.resolveHost(hostname, signal);
  const options = {
    method,
    headers,
    // Each request gets a new connection, so that the address is checked each time.
    agent: false,
    signal,
    lookup: allowPrivate ? lookupBy(resolveHost) : publicLookup(resolveHost, refused),
  } as const;
  return url.protocol === "https:" ? https.request(url, options) : http.request(url, options);
}

/** Returns an error without the address: a client must not see how names resolve inside the operator's network. */
function refused(hostname: string): Error {
  return new AddressRefusedError(`the host ${hostname} has a private address`);
}

/** Returns why no request may go to `url`; null if it may. Addresses of host names are checked later. */
export function outsideUrlProblem(url: URL, allowPrivate: boolean): string | null {
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
  if (!allowPrivate && privateLiteralOf(url) !== null) return "must not be a private address";
  return null;
}
