import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import type { HostAddress } from "../../shared/net/host-lookup.ts";

/** Resolves a host name to all its addresses; rejects when `signal` aborts. */
export type ResolveHostUntil = (hostname: string, signal: AbortSignal) => Promise<readonly HostAddress[]>;

const SYSTEM_HOSTS = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
/**
 * Timeout of the first query. Later queries have longer timeouts, which together stay within the limit of an attempt.
 */
const QUERY_TIMEOUT_MS = 1_500;
const QUERIES = 3;
/** Names that always refer to this machine (RFC 6761 §6.3). */
const LOCALHOST = /(?:^|\.)localhost$/i;
const LOOPBACK: readonly HostAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/**
 * Returns a resolver that queries the name servers directly. README.md, "Names", gives the reason.
 * @param servers "address:port" of each name server; default: the system's
 */
export function hostResolver(servers?: readonly string[], hostsFile = SYSTEM_HOSTS): ResolveHostUntil {
  return async (hostname, signal) => {
    const name = hostname.replace(/\.$/, "").toLowerCase();
    if (LOCALHOST.test(name)) return LOOPBACK;
    // The file is read each time: it is small and may change.
    const hosts = await readFile(hostsFile, "utf8").catch(() => "");
    const listed = listedAddresses(hosts, name);
    return listed.length > 0 ? listed : queryServers(name, servers, signal);
  };
}

async function queryServers(name: string, servers: readonly string[] | undefined, signal: AbortSignal) {
  signal.throwIfAborted();
  // Each name gets its own resolver, so that `cancel` ends only its queries.
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERIES });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel);
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found: HostAddress[] = [
      ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 as const })) : []),
      ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 as const })) : []),
    ];
    // A host may have addresses of only one family.
    if (found.length === 0 && four.status === "rejected") throw four.reason;
    return found;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Returns the addresses of a name in a hosts file. Source: hosts(5). */
function listedAddresses(hosts: string, name: string): HostAddress[] {
  return hosts.split("\n").flatMap((line): HostAddress[] => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0 || !names.some((each) => each.toLowerCase() === name)) return [];
    return [{ address, family: isIP(address) === 6 ? 6 : 4 }];
  });
}
