import { isIP } from "node:net";
import { isPrivateAddress } from "../../shared/private-address.ts";

/** Names that only a local network answers for. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|home\.arpa)$/;

/**
 * Why a URL's host is none of the public internet's, by its spelling alone: no name is looked up. Whoever fetches must check
 * the addresses that the name has then. Null when it may be public. The URL parser has spelled out `0x7f.1` and its like.
 */
export function hostProblem(url: URL): string | null {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host) ? `${host} is a private address` : null;
  return !host.includes(".") || LOCAL_NAME.test(host) ? `${host} is a name of a local network` : null;
}
