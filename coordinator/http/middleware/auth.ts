import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../../shared/errors.ts";
import type { AccountService } from "../../accounts/account-service.ts";
import type { Identity, IslandIdentity } from "../../accounts/identity.ts";
import { accountSuspended } from "../../accounts/suspended.ts";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { RequestLimits } from "../limits/request-limits.ts";
import { cookieToken } from "../server/console-session.ts";

/** The token of the `Authorization: Bearer …` header; undefined without one. */
export function bearerToken(incoming: IncomingMessage): string | undefined {
  return /^Bearer +([!-~]{1,200}) *$/i.exec(incoming.headers.authorization ?? "")?.[1];
}

/** The owner of the Island token that an agent sends in place of a key. @throws {ServiceError} `unauthenticated` */
export async function islandOwnerOf(
  incoming: IncomingMessage,
  tokens: Pick<AccountService["islandTokens"], "find">,
): Promise<IslandIdentity> {
  const token = bearerToken(incoming);
  const owner = token === undefined ? undefined : await tokens.find(token);
  if (owner !== undefined) return owner;
  throw new ServiceError("unauthenticated", "Send the Island token: Authorization: Bearer it_…");
}

/**
 * The key or session token that a request names its caller by: `Authorization`, else `X-Api-Key`, as Anthropic's clients have it, else a
 * cookie.
 */
export function credentialOf(incoming: IncomingMessage): string | undefined {
  if (incoming.headers.authorization !== undefined) return bearerToken(incoming);
  const { "x-api-key": key } = incoming.headers;
  return key === undefined ? cookieToken(incoming) : /^[!-~]{1,200}$/.exec(String(key))?.[0];
}

/**
 * The caller, by API key or session token. A request without a valid one counts for its address, which limits guessing.
 * @throws {RateLimitedError}
 * @throws {ServiceError} `unauthenticated`: the credential is missing, unknown, revoked or expired; `key_expired` for an API key;
 * `account_suspended`.
 */
export async function authenticate(
  accounts: Pick<AccountService, "authenticate">,
  incoming: IncomingMessage,
  limits: Pick<RequestLimits, "countAddress">,
): Promise<Identity> {
  const token = credentialOf(incoming);
  let because: string | null = null;
  try {
    const identity = token === undefined ? undefined : await accounts.authenticate(token);
    because = identity?.suspendedBecause ?? null;
    if (identity !== undefined && because === null) return identity;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "key_expired") limits.countAddress(incoming);
    throw error;
  }
  limits.countAddress(incoming);
  if (because !== null) throw accountSuspended(because);
  throw new ServiceError(
    "unauthenticated",
    token === undefined
      ? "Send an API key or session token: Authorization: Bearer <token>"
      : "The API key or session token is not valid: unknown, revoked or expired; use another or sign in again",
  );
}

/** Operators act in person: a key, which programs have, is not enough. @throws {ServiceError} `operator_only` */
export function requireOperator(identity: Identity): void {
  if (identity.role === "operator" && identity.kind === "session") return;
  const text =
    identity.role === "operator"
      ? "An API key is not enough here; sign in, and send the session token"
      : "Only operators may do this; the command `account role` makes an account an operator's";
  throw new ServiceError("operator_only", text);
}

/** @throws {ServiceError} `insufficient_scope` */
export function requireScope(identity: Identity, scope: Scope): void {
  if (!identity.scopes.includes(scope)) {
    throw new ServiceError("insufficient_scope", `The API key lacks the scope "${scope}"; use a key that has it`);
  }
}
