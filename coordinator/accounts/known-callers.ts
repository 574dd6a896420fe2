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
  /** End of the session or key; Infinity for a key without expiry. */
  readonly expiresAtMs: number;
}

/** Source of credential changes, including those made by other coordinators. */
export interface CredentialRevisionSource {
  /** Returns the credential revision, read at most one second ago. */
  revision(): number | Promise<number>;
  /** Reports a change of credentials or limits, which applies here at once and at other coordinators soon after. */
  changed(): void;
}

export interface CredentialUser {
  /** Closes everything open under `credential`: an id of a key or Island token, or the hash of a session token. */
  readonly end: (credential: string) => void;
  /** Returns the credentials under which something is open. */
  readonly open: () => Iterable<string>;
}

/**
 * Returns a function that resolves the caller of an API key or session token, with a cache: for a cached caller it
 * reads one number, the credential revision, instead of key, account and limits. The store increments this number with
 * every change, even one by the command line, so that outdated data is never used. With several coordinators on one
 * store, the number is at most a second old.
 *
 * The function resolves with undefined for a token that is unknown, revoked or expired; this is not cached. It throws a
 * {@link ServiceError} `key_expired` for an API key.
 */
export function knownCallers(
  store: Pick<AccountStore, "findKey" | "findSession" | "accountStatus">,
  clock: Pick<Clock, "now">,
  credentials: Pick<CredentialRevisionSource, "revision">,
): (token: string) => Promise<Identity | undefined> {
  /** Callers by token hash. `revision`: credential revision before their look-up. */
  const cached = recentMap<Caller & { readonly revision: number }>(MAX_CALLERS);

  async function findKey(secretHash: string): Promise<Caller | undefined> {
    const key = await store.findKey(secretHash);
    if (key === undefined) return undefined;
    const { id: keyId, number: keyNumber, accountId, scopes, expiresAtMs, cargos, monthlyMicro, trust } = key;
    if (expiresAtMs !== null && expiresAtMs <= clock.now()) {
      const when = new Date(expiresAtMs).toISOString();
      throw new ServiceError("key_expired", `The API key expired at ${when}; create another key or change its expiry`);
    }
    const accountStatus = await findAccountStatus(accountId);
    if (accountStatus === undefined) return undefined;
    const isLimited = expiresAtMs !== null || cargos !== null || monthlyMicro !== null;
    const keyLimits = isLimited ? { keyLimits: { expiresAtMs, cargos, monthlyMicro } } : {};
    return {
      identity: { kind: "key", accountId, keyId, keyNumber, keyTrust: trust, scopes, ...accountStatus, ...keyLimits },
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

  /** Reads the role, suspension and limits. A deleted account has none, but its credentials may exist for a moment. */
  async function findAccountStatus(accountId: string) {
    const accountStatus = await store.accountStatus(accountId);
    return accountStatus && { ...accountStatus, limits: resolveLimits(accountStatus.limits) };
  }

  return async (token) => {
    const kind = secretKind(token);
    if (kind !== "ak" && kind !== "st") return undefined;
    const tokenHash = hashSecret(token);
    // The revision is read before the look-up, so that a change during the look-up makes the cached caller outdated.
    const revision = await credentials.revision();
    const known = cached.get(tokenHash);
    if (known?.revision === revision && known.expiresAtMs > clock.now()) return known.identity;
    const caller = await (kind === "ak" ? findKey(tokenHash) : findSession(tokenHash));
    if (caller !== undefined) cached.set(tokenHash, { ...caller, revision });
    return caller?.identity;
  };
}
