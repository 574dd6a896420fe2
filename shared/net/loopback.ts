import { isIP } from "node:net";

/** Returns whether a host name, or an address with or without brackets, is that of this machine's loopback interface. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
