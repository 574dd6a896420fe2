import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../../shared/errors.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { accountSuspended, type Identity, type IslandIdentity } from "../../accounts/identity.ts";
import type { Scope } from "../../store/accounts/credentials.ts";
import type { RequestLimits } from "../limits/request-limits.ts";
import { cookieToken } from "../server/console-session.ts";

export function bearerToken(incoming: IncomingMessage): string | undefined {
  return /^Bearer +([!-~]{1,200}) *$/i.exec(incoming.headers.authorization ?? "")?.[1];
}

/** Returns the owner of the request's Island token. @throws {ServiceError} `unauthenticated` */
export async function authenticateIsland(
  incoming: IncomingMessage,
  tokens: Pick<Accounts["islandTokens"], "find">,
): Promise<IslandIdentity> {
  const token = bearerToken(incoming);
  const owner = token === undefined ? undefined : await tokens.find(token);
  if (owner !== undefined) return owner;
  throw new ServiceError(
    "unauthenticated",
    "The Island token is missing or not valid. Send Authorization: Bearer it_…",
  );
}

/** Returns the request's API key or session token. Anthropic's clients send the key in `X-Api-Key`. */
export function credentialOf(incoming: IncomingMessage): string | undefined {
  if (incoming.headers.authorization !== undefined) return bearerToken(incoming);
  const { "x-api-key": key } = incoming.headers;
  return key === undefined ? cookieToken(incoming) : /^[!-~]{1,200}$/.exec(String(key))?.[0];
}

/**
 * Returns the caller. A request without a valid credential counts for its client address, which limits guessing.
 * @throws {RateLimitedError}
 * @throws {ServiceError} `unauthenticated`: the credential is missing, unknown, revoked or expired; `key_expired` for
 * an API key; `account_suspended`.
 */
export async function authenticate(
  accounts: Pick<Accounts, "authenticate">,
  incoming: IncomingMessage,
  limits: Pick<RequestLimits, "countAddress">,
): Promise<Identity> {
  const token = credentialOf(incoming);
  let reason: string | null = null;
  try {
    const identity = token === undefined ? undefined : await accounts.authenticate(token);
    reason = identity?.suspensionReason ?? null;
    if (identity !== undefined && reason === null) return identity;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "key_expired") limits.countAddress(incoming);
    throw error;
  }
  limits.countAddress(incoming);
  if (reason !== null) throw accountSuspended(reason);
  throw new ServiceError(
    "unauthenticated",
    token === undefined
      ? "The request has no API key or session token. Send Authorization: Bearer <token>"
      : "The API key or session token is unknown, revoked or expired. Use another key or sign in again",
  );
}

/** Returns true for an operator's session; a key is not enough. */
export function isOperator({ role, kind }: Identity): boolean {
  return role === "operator" && kind === "session";
}

/** Refuses a caller without an operator's session. @throws {ServiceError} `operator_only` */
export function requireOperator(identity: Identity): void {
  if (isOperator(identity)) return;
  const text =
    identity.role === "operator"
      ? "Operator endpoints do not accept API keys. Sign in and send the session token"
      : "The account is not an operator. The command `account role` gives it the role";
  throw new ServiceError("operator_only", text);
}

/** Refuses a caller without the scope. @throws {ServiceError} `insufficient_scope` */
export function requireScope(identity: Identity, scope: Scope): void {
  if (!identity.scopes.includes(scope)) {
    throw new ServiceError("insufficient_scope", `The API key lacks the scope "${scope}". Use a key that has it`);
  }
}
