import type { LookupFunction } from "node:net";
import { isPrivateAddress } from "./private-address.ts";

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns all addresses of a host name. Rejects with an error that has a `code` if the host has none. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

/** Returns a lookup function for `http.request` that uses `resolveHost`. */
export function lookupBy(resolveHost: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    resolveHost(hostname).then(
      (addresses) => {
        const fitting = addresses.filter(({ family }) => !options.family || family === Number(options.family));
        const first = fitting[0];
        if (first === undefined) callback(notFound(hostname), "");
        else if (options.all === true) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

/**
 * Returns a lookup function that rejects a host with any private address. The socket connects to the checked addresses,
 * so a name that changes its address between check and connection cannot bypass the check (DNS rebinding).
 * @param refusal creates the error for a host and its private address
 */
export function publicLookup(
  resolveHost: ResolveHost,
  refusal: (hostname: string, address: string) => Error,
): LookupFunction {
  return lookupBy(async (hostname) => {
    const addresses = await resolveHost(hostname);
    const refused = addresses.find(({ address }) => isPrivateAddress(address));
    if (refused !== undefined) throw refusal(hostname, refused.address);
    return addresses;
  });
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address found for ${hostname}`), { code: "ENOTFOUND" });
}
