import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { JobFailure } from "../../../shared/errors.ts";
import { publicLookup, type ResolveHost } from "../../../shared/net/host-lookup.ts";
import { privateLiteralOf } from "../../../shared/net/private-address.ts";

/** Rejects a URL whose host is a private IP address, for which there is no lookup. @throws {JobFailure} */
export function assertPublicLiteral(url: URL): void {
  const address = privateLiteralOf(url);
  if (address !== null) throw privateAddressFailure(address, address);
}

/** Returns a lookup for `http.request` that fails with a {@link JobFailure} for a host with any private address. */
export function modelLookup(resolveHost: ResolveHost): LookupFunction {
  return publicLookup(resolveHost, privateAddressFailure);
}

export const resolveWithDns: ResolveHost = (hostname) =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error !== null) reject(error);
      else resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });

function privateAddressFailure(host: string, address: string): JobFailure {
  const what = host === address ? `address ${address}` : `host ${host} (${address})`;
  // Retryable, because another Island's owner may allow it.
  return new JobFailure("model_unavailable", `The model's ${what} is private, which this Island does not allow`, {
    retryable: true,
  });
}
