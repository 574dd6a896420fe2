import { privateLiteralOf } from "../../shared/private-address.ts";

/**
 * Why a webhook may not be sent to `url`; null if it may, as far as the URL alone tells. Where private addresses are not
 * allowed, what a host name resolves to is checked again at each connection.
 */
export function refusalOf(url: URL, allowPrivate: boolean): string | null {
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
  if (!allowPrivate && privateLiteralOf(url) !== null) return "must not be a private address";
  return null;
}
