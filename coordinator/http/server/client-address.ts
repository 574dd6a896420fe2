import type { IncomingMessage } from "node:http";
import { isIP, isIPv6 } from "node:net";

/** Number of 16-bit groups in a /64 prefix, the smallest network that a customer gets. */
const IPV6_PREFIX_GROUPS = 4;

interface ProxyTrust {
  /** Whether a proxy sets X-Forwarded-For, -Proto and -Host, so that these headers can be trusted. */
  readonly trustProxy: boolean;
}

/**
 * Returns the client's address for limits: IPv4, or the /64 network of an IPv6 address. Behind a trusted proxy, the
 * address is the last entry of X-Forwarded-For, which the proxy wrote; the client controls the earlier ones. If that
 * entry is not an address ("unknown"), returns the proxy's own address.
 */
export function clientAddress(incoming: IncomingMessage, { trustProxy }: ProxyTrust): string {
  const forwarded = trustProxy ? withoutPort(lastOf(incoming.headers["x-forwarded-for"]) ?? "") : "";
  return networkOf(isIP(forwarded) === 0 ? (incoming.socket.remoteAddress ?? "unknown") : forwarded);
}

/** Strips the port that some proxies append: 192.0.2.1:80, [2001:db8::1]:80. */
function withoutPort(entry: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** Returns the network of an address: the IPv4 address, even if mapped into IPv6, or the /64 prefix of IPv6. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = [], tail = []] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail].slice(0, IPV6_PREFIX_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** Returns the URL at which the client reaches the coordinator, without a trailing slash. */
export function originOf(
  incoming: IncomingMessage,
  options: ProxyTrust & { readonly publicUrl: string | null },
): string {
  if (options.publicUrl !== null) return options.publicUrl.replace(/\/+$/, "");
  const { headers, socket } = incoming;
  const proto = options.trustProxy ? lastOf(headers["x-forwarded-proto"]) : undefined;
  const host = options.trustProxy ? lastOf(headers["x-forwarded-host"]) : undefined;
  const isTls = "encrypted" in socket;
  return `${proto ?? (isTls ? "https" : "http")}://${host ?? headers.host ?? "localhost"}`;
}

function lastOf(header: string | string[] | undefined): string | undefined {
  const last = (Array.isArray(header) ? header.join(",") : header)?.split(",").at(-1)?.trim();
  return last === "" ? undefined : last;
}
