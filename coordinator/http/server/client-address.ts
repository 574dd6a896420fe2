import type { IncomingMessage } from "node:http";
import { isIP, isIPv6 } from "node:net";
import type { HttpOptions } from "../http-deps.ts";

/** Groups of 16 bits that name a network: whoever has an IPv6 address has 2^64 of them. */
const NETWORK_GROUPS = 4;

/**
 * IP address of the client, for limits; of an IPv6 address its network (/64). Behind a trusted proxy it is the last entry of
 * X-Forwarded-For: the one that the proxy wrote itself, where earlier ones are whatever the client sent. An entry that names no
 * address ("unknown") counts as the proxy's own.
 */
export function clientAddress(incoming: IncomingMessage, { trustProxy }: Pick<HttpOptions, "trustProxy">): string {
  const forwarded = trustProxy ? withoutPort(lastOf(incoming.headers["x-forwarded-for"]) ?? "") : "";
  return networkOf(isIP(forwarded) === 0 ? (incoming.socket.remoteAddress ?? "unknown") : forwarded);
}

/** Some proxies write the client's port too, which each connection has another of: 192.0.2.1:80, [2001:db8::1]:80. */
function withoutPort(entry: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** An IPv4 address as it is, also one that is mapped into IPv6; of an IPv6 address the first four groups. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = [], tail = []] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}

/** Where the client reaches us, without a slash at the end: what the operator said, else what the request itself says. */
export function originOf(incoming: IncomingMessage, options: Pick<HttpOptions, "publicUrl" | "trustProxy">): string {
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
