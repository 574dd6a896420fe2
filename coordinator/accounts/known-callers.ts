import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import { SCOPES } from "../store/accounts/credentials.ts";
import type { Identity } from "./identity.ts";
import { hashSecret, secretKind } from "./secrets.ts";

const MAX_CALLERS = 10_000;

interface Caller {
  readonly identity: Identity;
  /** Infinity for a key without expiry. */
  readonly expiresAtMs: number;
}

/** Source of credential changes, including those made by other coordinators. */
export interface CredentialRevisionSource {
  /** Returns the revision, at most one second old. */
  revision(): number | Promise<number>;
  /** Reports a change of credentials or limits. It applies here at once, on other coordinators soon after. */
  changed(): void;
}

/** A component with resources that are open under a credential. */
export interface CredentialUser {
  /** Closes what `credential` opened: id of a key or Island token, or hash of a session token. */
  readonly end: (credential: string) => void;
  readonly open: () => Iterable<string>;
}

/**
 * Resolves API keys and session tokens to callers, with a cache: a request of a cached caller reads one number instead
 * of key, account and limits. The store raises this number with every change, also by the command line, so a request
 * after a change never uses outdated data. With several coordinators on one store, the number is at most a second old.
 *
 * The returned function resolves with undefined for a token that is unknown, revoked or expired; this is not cached. It
 * throws a {@link ServiceError} `key_expired` for an API key.
 */
export function knownCallers(
  store: Pick<AccountStore, "findKey" | "findSession" | "accountStatus">,
  clock: Pick<Clock, "now">,
  credentials: Pick<CredentialRevisionSource, "revision">,
): (token: string) => Promise<Identity | undefined> {
  /** By token hash. `revision`: credential revision before the look-up. */
  const cached = recentMap<Caller & { readonly revision: number }>(MAX_CALLERS);

  async function findKey(secretHash: string): Promise<Caller | undefined> {
    const key = await store.findKey(secretHash);
    if (key === undefined) return undefined;
    const { id: keyId, number: keyNumber, accountId, scopes, expiresAtMs, cargos, monthlyMicro } = key;
    if (expiresAtMs !== null && expiresAtMs <= clock.now()) {
      const when = new Date(expiresAtMs).toISOString();
      throw new ServiceError("key_expired", `The API key expired at ${when}; create another key or change its expiry`);
    }
    const accountStatus = await findAccountStatus(accountId);
    if (accountStatus === undefined) return undefined;
    const isLimited = expiresAtMs !== null || cargos !== null || monthlyMicro !== null;
    const keyLimits = isLimited ? { keyLimits: { expiresAtMs, cargos, monthlyMicro } } : {};
    return {
      identity: { kind: "key", accountId, keyId, keyNumber, scopes, ...accountStatus, ...keyLimits },
      expiresAtMs: expiresAtMs ?? Infinity,
    };
  }

  async function findSession(tokenHash: string): Promise<Caller | undefined> {
    const session = await store.findSession(tokenHash, clock.now());
    if (session === undefined) return undefined;
    const { accountId, expiresAtMs } = session;
    const accountStatus = await findAccountStatus(accountId);
    if (accountStatus === undefined) return undefined;
    return { identity: { kind: "session", accountId, scopes: SCOPES, tokenHash, ...accountStatus }, expiresAtMs };
  }

  /** Returns undefined for a deleted account: a request in flight may store a key or session after the deletion. */
  async function findAccountStatus(accountId: string) {
    const accountStatus = await store.accountStatus(accountId);
    return accountStatus && { ...accountStatus, limits: resolveLimits(accountStatus.limits) };
  }

  return async (token) => {
    const kind = secretKind(token);
    if (kind !== "ak" && kind !== "st") return undefined;
    const tokenHash = hashSecret(token);
    // Read first, so that a change during the look-up makes the cached entry outdated.
    const revision = await credentials.revision();
    const known = cached.get(tokenHash);
    if (known?.revision === revision && known.expiresAtMs > clock.now()) return known.identity;
    const caller = await (kind === "ak" ? findKey(tokenHash) : findSession(tokenHash));
    if (caller !== undefined) cached.set(tokenHash, { ...caller, revision });
    return caller?.identity;
  };
}
