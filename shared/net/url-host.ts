/** Returns the host part of a URL; IPv6 addresses get brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
