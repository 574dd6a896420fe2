import { privateLiteralOf } from "../../shared/net/private-address.ts";

/**
 * Why a webhook may not be sent to `url`; null if the URL alone gives no reason. Unless private addresses are allowed, the addresses
 * of a host name are also checked at each connection.
 */
export function webhookUrlProblem(url: URL, allowPrivate: boolean): string | null {
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
  if (!allowPrivate && privateLiteralOf(url) !== null) return "must not be a private address";
  return null;
}
