import { BlockList, isIP, type LookupFunction } from "node:net";

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

/** Ranges that are not the public internet. Source: IANA special-purpose registries for IPv4 and IPv6. */
const PRIVATE_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;
const PRIVATE_IPV6 = [
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const;
/** An IPv4 address behind NAT64 (RFC 6052) is as private as the one inside. IPv4-mapped ones are handled by BlockList. */
const NAT64_PREFIX = "64:ff9b::";

const privateAddresses = new BlockList();
for (const [network, prefix] of PRIVATE_IPV4) {
  privateAddresses.addSubnet(network, prefix, "ipv4");
  privateAddresses.addSubnet(`${NAT64_PREFIX}${network}`, 96 + prefix, "ipv6");
}
for (const [network, prefix] of PRIVATE_IPV6) privateAddresses.addSubnet(network, prefix, "ipv6");

/** True for loopback, private, link-local (cloud metadata), shared, reserved and multicast addresses, and for no address. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, "");
  const family = isIP(bare);
  if (family === 0) return true;
  return privateAddresses.check(bare, family === 4 ? "ipv4" : "ipv6");
}

/** The private address that is the host of a URL; the platform connects to it without a lookup. Null for any other host. */
export function privateLiteralOf(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && isPrivateAddress(host) ? host : null;
}

/**
 * A lookup for `http.request` that refuses a host with any private address. The socket connects to the very addresses
 * that were checked, so a name that changes its answer between check and connection gains nothing.
 * @param refusal The error for a host that has the private address.
 */
export function publicLookup(
  resolveHost: ResolveHost,
  refusal: (hostname: string, address: string) => Error,
): LookupFunction {
  return (hostname, options, callback) => {
    resolveHost(hostname).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => isPrivateAddress(address));
        const fitting = addresses.filter(({ family }) => !options.family || family === Number(options.family));
        const first = fitting[0];
        if (refused !== undefined) callback(refusal(hostname, refused.address), "");
        else if (first === undefined) callback(notFound(hostname), "");
        else if (options.all === true) callback(null, [...fitting]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address found for ${hostname}`), { code: "ENOTFOUND" });
}
