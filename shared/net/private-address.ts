import { BlockList, isIP } from "node:net";

/**
 * IPv4 ranges outside the public internet: those that IANA's special-purpose registry (RFC 6890, as of 2025) does not
 * mark as globally reachable, multicast, and the former class E. All of 192.0.0.0/24 is included, with two anycast
 * addresses that only a network's own equipment uses.
 */
export const PRIVATE_IPV4 = [
  "0.0.0.0/8", // this network
  "10.0.0.0/8", // private use
  "100.64.0.0/10", // shared by carriers
  "127.0.0.0/8", // loopback
  "169.254.0.0/16", // link-local: cloud metadata
  "172.16.0.0/12", // private use
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays, deprecated
  "192.168.0.0/16", // private use
  "198.18.0.0/15", // benchmarking
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, broadcast
];
/**
 * The IPv6 range that IANA has assigned as global unicast. Everything else counts as private: loopback, unique local,
 * link-local, site-local, multicast, discard-only, SRv6, local NAT64 (RFC 8215), and future assignments.
 */
export const GLOBAL_IPV6 = "2000::/3";
/**
 * Parts of the global range that the registry does not mark as globally reachable, and tunnels that can lead anywhere.
 */
export const PRIVATE_IPV6 = [
  "2001::/23", // protocol assignments: Teredo, benchmarking, ORCHID
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
];
/**
 * Prefixes of addresses whose last 32 bits are an IPv4 address, which is checked instead: IPv4-mapped, NAT64 (RFC
 * 6052).
 */
const IPV4_PREFIXES = ["::ffff:", "64:ff9b::"];
const IPV4_PREFIX_BITS = 96;

const globalIpv6 = new BlockList();
const privateAddresses = new BlockList();
addRange(globalIpv6, GLOBAL_IPV6);
for (const range of [...PRIVATE_IPV4, ...PRIVATE_IPV6]) addRange(privateAddresses, range);
for (const prefix of IPV4_PREFIXES) {
  addRange(globalIpv6, `${prefix}0.0.0.0/${IPV4_PREFIX_BITS}`);
  for (const range of PRIVATE_IPV4) {
    const [network, bits] = range.split("/");
    addRange(privateAddresses, `${prefix}${network}/${IPV4_PREFIX_BITS + Number(bits)}`);
  }
}

function addRange(list: BlockList, range: string): void {
  const [network = "", bits] = range.split("/");
  list.addSubnet(network, Number(bits), isIP(network) === 6 ? "ipv6" : "ipv4");
}

/**
 * Returns whether an address is outside the public internet (loopback, private, link-local with cloud metadata, shared,
 * reserved, documentation, multicast, tunnels). Text that is not an address counts as private.
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, "");
  const family = isIP(bare);
  if (family === 4) return privateAddresses.check(bare, "ipv4");
  return family === 0 || !globalIpv6.check(bare, "ipv6") || privateAddresses.check(bare, "ipv6");
}

/** Returns the URL's host if it is a private address, which does not require a lookup; otherwise null. */
export function privateLiteralOf(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isIP(host) !== 0 && isPrivateAddress(host) ? host : null;
}
