import { BlockList, isIP } from "node:net";

/** Ranges that are not the public internet. Source: IANA special-purpose registries. */
const PRIVATE_IPV4 = words(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3
`);
const PRIVATE_IPV6 = words(`
  ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 fc00::/7 fe80::/10
  fec0::/10 ff00::/8
`);
/** Names that only a local network answers for. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|home\.arpa)$/;

const privateAddresses = new BlockList();
for (const range of PRIVATE_IPV4) addRange(range, "ipv4");
for (const range of PRIVATE_IPV6) addRange(range, "ipv6");

/**
 * Why a URL's host is none of the public internet's, by its spelling alone: no name is looked up. Whoever fetches must check
 * the addresses that the name has then. Null when it may be public. The URL parser has spelled out `0x7f.1` and its like.
 */
export function hostProblem(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const family = isIP(host);
  if (family !== 0) {
    return privateAddresses.check(host, family === 4 ? "ipv4" : "ipv6") ? `${host} is a private address` : null;
  }
  return !host.includes(".") || LOCAL_NAME.test(host) ? `${host} is a name of a local network` : null;
}

function addRange(range: string, family: "ipv4" | "ipv6"): void {
  const [network = "", prefix] = range.split("/");
  privateAddresses.addSubnet(network, Number(prefix), family);
}

/** A list that reads as one. */
function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
