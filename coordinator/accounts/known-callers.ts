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

interface KnownCaller extends Caller {
  /** Of the credentials, before the look-up. */
  readonly revision: number;
}

/** Where other coordinators change credentials too: what is known of that. */
export interface CredentialNews {
  /** The revision of the credentials, as it was within the last second. */
  revision(): number | Promise<number>;
  /** This coordinator has changed credentials or limits: that counts here from now on, and elsewhere soon. */
  changed(): void;
}

/** One who ends what is open with a credential. */
export interface CredentialUser {
  /** `credential` has ended: the id of a key or an Island token, or the hash of a session's token. */
  readonly end: (credential: string) => void;
  /** The credentials with which something is open. */
  readonly open: () => Iterable<string>;
}

/**
 * Whom API keys and session tokens identify. It remembers them, so that a request of a known caller reads one number in place of key,
 * account and limits. Storage raises that number with every change, also with one by the command line: no request that comes after a
 * change is answered by what was true before it. Where several coordinators share a store, the number is at most a second old.
 */
export class KnownCallers {
  readonly #store: Pick<AccountStore, "credentialsRevision" | "findKey" | "findSession" | "standing">;
  readonly #revision: () => number | Promise<number>;
  readonly #clock: Pick<Clock, "now">;
  /** By the hash of the token. */
  readonly #known = recentMap<KnownCaller>(MAX_CALLERS);

  constructor(
    store: Pick<AccountStore, "credentialsRevision" | "findKey" | "findSession" | "standing">,
    clock: Pick<Clock, "now">,
    news?: Pick<CredentialNews, "revision">,
  ) {
    this.#store = store;
    this.#revision = news === undefined ? () => store.credentialsRevision() : () => news.revision();
    this.#clock = clock;
  }

  /**
   * Undefined for a token that is unknown, revoked or expired; it is not remembered.
   * @throws {ServiceError} `key_expired` for an API key.
   */
  async identify(token: string): Promise<Identity | undefined> {
    const kind = secretKind(token);
    if (kind !== "ak" && kind !== "st") return undefined;
    const tokenHash = hashSecret(token);
    // Read first: a change during the look-up makes what is remembered outdated at once.
    const revision = await this.#revision();
    const known = this.#known.get(tokenHash);
    if (known?.revision === revision && known.expiresAtMs > this.#clock.now()) return known.identity;
    const caller = await (kind === "ak" ? this.#findKey(tokenHash) : this.#findSession(tokenHash));
    if (caller !== undefined) this.#known.set(tokenHash, { ...caller, revision });
    return caller?.identity;
  }

  async #findKey(secretHash: string): Promise<Caller | undefined> {
    const key = await this.#store.findKey(secretHash);
    if (key === undefined) return undefined;
    const { id: keyId, number: keyNumber, accountId, scopes, expiresAtMs, cargos, monthlyMicro } = key;
    if (expiresAtMs !== null && expiresAtMs <= this.#clock.now()) {
      const atTime = new Date(expiresAtMs).toISOString();
      throw new ServiceError("key_expired", `The API key expired at ${atTime}; make another one, or change its expiry`);
    }
    const standing = await this.#standingOf(accountId);
    if (standing === undefined) return undefined;
    const isLimited = expiresAtMs !== null || cargos !== null || monthlyMicro !== null;
    const keyLimits = isLimited ? { keyLimits: { expiresAtMs, cargos, monthlyMicro } } : {};
    return {
      identity: { kind: "key", accountId, keyId, keyNumber, scopes, ...standing, ...keyLimits },
      expiresAtMs: expiresAtMs ?? Infinity,
    };
  }

  async #findSession(tokenHash: string): Promise<Caller | undefined> {
    const session = await this.#store.findSession(tokenHash, this.#clock.now());
    if (session === undefined) return undefined;
    const { accountId, expiresAtMs } = session;
    const standing = await this.#standingOf(accountId);
    if (standing === undefined) return undefined;
    return { identity: { kind: "session", accountId, scopes: SCOPES, tokenHash, ...standing }, expiresAtMs };
  }

  /** Undefined for a deleted account: a request that it had under way may store a key or session after its end. */
  async #standingOf(accountId: string): Promise<Pick<Identity, "limits" | "role" | "suspendedBecause"> | undefined> {
    const standing = await this.#store.standing(accountId);
    return standing && { ...standing, limits: resolveLimits(standing.limits) };
  }
}
