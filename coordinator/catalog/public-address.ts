import { isIP } from "node:net";
import { isPrivateAddress } from "../../shared/net/private-address.ts";

/** Names that only exist in a local network. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|home\.arpa)$/;

/**
 * Why a URL's host is not public, judged by its spelling; null if it may be public. No name is resolved: the code that fetches must
 * check the addresses. The URL parser has already normalised forms such as `0x7f.1`.
 */
export function hostProblem(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host) ? `${host} is a private address` : null;
  return !host.includes(".") || LOCAL_NAME.test(host) ? `${host} is a name of a local network` : null;
}
