import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import { SCOPES } from "../store/accounts/credentials.ts";
import type { Identity } from "./identity.ts";
import { hashSecret, secretKind } from "./secrets.ts";

/** Callers remembered; one that is forgotten is looked up again. */
const MAX_CALLERS = 10_000;

interface Caller {
  readonly identity: Identity;
  /** Of a session, or of a key that expires; else Infinity. */
  readonly expiresAtMs: number;
}

/** What is known of changes of credentials, also by other coordinators. */
export interface CredentialRevisionSource {
  /** The revision of the credentials, as it was within the last second. */
  revision(): number | Promise<number>;
  /** This coordinator has changed credentials or limits: that counts here from now on, and elsewhere soon. */
  changed(): void;
}

/** One who ends what is open with a credential. */
export interface CredentialUser {
  /** `credential` has ended: the id of a key or an Island token, or the hash of a session's token. */
  readonly end: (credential: string) => void;
  readonly open: () => Iterable<string>;
}

/**
 * Whom API keys and session tokens identify. It remembers them, so that a request of a known caller reads one number in place of key,
 * account and limits. Storage raises that number with every change, also with one by the command line: no request that comes after a
 * change is answered by what was true before it. Where several coordinators share a store, the number is at most a second old.
 *
 * The returned function resolves with undefined for a token that is unknown, revoked or expired; it is not remembered. It throws a
 * {@link ServiceError} `key_expired` for an API key.
 */
export function knownCallers(
  store: Pick<AccountStore, "findKey" | "findSession" | "accountStatus">,
  clock: Pick<Clock, "now">,
  credentials: Pick<CredentialRevisionSource, "revision">,
): (token: string) => Promise<Identity | undefined> {
  /** By the hash of the token. `revision`: of the credentials, before the look-up. */
  const remembered = recentMap<Caller & { readonly revision: number }>(MAX_CALLERS);

  async function findKey(secretHash: string): Promise<Caller | undefined> {
    const key = await store.findKey(secretHash);
    if (key === undefined) return undefined;
    const { id: keyId, number: keyNumber, accountId, scopes, expiresAtMs, cargos, monthlyMicro } = key;
    if (expiresAtMs !== null && expiresAtMs <= clock.now()) {
      const atTime = new Date(expiresAtMs).toISOString();
      throw new ServiceError("key_expired", `The API key expired at ${atTime}; make another one, or change its expiry`);
    }
    const accountStatus = await accountStatusOf(accountId);
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
    const accountStatus = await accountStatusOf(accountId);
    if (accountStatus === undefined) return undefined;
    return { identity: { kind: "session", accountId, scopes: SCOPES, tokenHash, ...accountStatus }, expiresAtMs };
  }

  /** Undefined for a deleted account: a request that it had under way may store a key or session after its end. */
  async function accountStatusOf(
    accountId: string,
  ): Promise<Pick<Identity, "limits" | "role" | "suspendedBecause"> | undefined> {
    const accountStatus = await store.accountStatus(accountId);
    return accountStatus && { ...accountStatus, limits: resolveLimits(accountStatus.limits) };
  }

  return async (token) => {
    const kind = secretKind(token);
    if (kind !== "ak" && kind !== "st") return undefined;
    const tokenHash = hashSecret(token);
    // Read first: a change during the look-up makes what is remembered outdated at once.
    const revision = await credentials.revision();
    const known = remembered.get(tokenHash);
    if (known?.revision === revision && known.expiresAtMs > clock.now()) return known.identity;
    const caller = await (kind === "ak" ? findKey(tokenHash) : findSession(tokenHash));
    if (caller !== undefined) remembered.set(tokenHash, { ...caller, revision });
    return caller?.identity;
  };
}
