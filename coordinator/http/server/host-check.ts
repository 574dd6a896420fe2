import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";
import type { ErrorResponse } from "../error-responses.ts";
import { refusal } from "./protocol-refusals.ts";

/**
 * Returns the refusal of a request with a wrong Host header; null if the request may be served. Without `publicUrl`, a
 * name other than localhost gets 421: a web page whose name resolves to this machine (DNS rebinding) could otherwise
 * use the API as if it were the coordinator's own page. Two Host headers always get 400 (RFC 9112, section 3.2).
 */
export function refuseHost({ rawHeaders }: IncomingMessage, publicUrl: string | null): ErrorResponse | null {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "host");
  if (hosts.length > 1) return refusal(400, "The request has more than one Host header. Send one");
  const [host = ""] = hosts;
  // The API refuses a request without a Host, except for an upgrade, which no page can send without one.
  if (publicUrl !== null || host === "" || isAddressOrLocalhost(host)) return null;
  if (/[\s/?#@\\<>]/.test(host)) return refusal(400, "The Host header of the request is invalid");
  return refusal(
    421,
    `This coordinator is not reachable at "${host}": without the setting public_url, it answers only to IP addresses and localhost. Use one of these, or set public_url on the coordinator`,
  );
}

function isAddressOrLocalhost(host: string): boolean {
  const name = host.replace(/:\d*$/, "").toLowerCase();
  const bracketed = /^\[(.*)\]$/.exec(name)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed);
  return isIPv4(name) || name === "localhost" || name.endsWith(".localhost");
}
