import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { resolveLimits } from "../quotas/account-limits.ts";
import { SCOPES, type AccountStore } from "../store/account-store.ts";
import type { Identity } from "./identity.ts";
import { hashSecret, secretKind } from "./secrets.ts";

/** Callers remembered; one that is forgotten is looked up again. */
const MAX_CALLERS = 10_000;

interface Caller {
  readonly identity: Identity;
  /** Of a session; Infinity for a key. */
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

  /** Undefined for a token that is unknown, revoked or expired; it is not remembered. */
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
    const { id: keyId, accountId, scopes } = key;
    const standing = await this.#standingOf(accountId);
    return { identity: { kind: "key", accountId, keyId, scopes, ...standing }, expiresAtMs: Infinity };
  }

  async #findSession(tokenHash: string): Promise<Caller | undefined> {
    const session = await this.#store.findSession(tokenHash, this.#clock.now());
    if (session === undefined) return undefined;
    const { accountId, expiresAtMs } = session;
    const standing = await this.#standingOf(accountId);
    return { identity: { kind: "session", accountId, scopes: SCOPES, tokenHash, ...standing }, expiresAtMs };
  }

  async #standingOf(accountId: string): Promise<Pick<Identity, "limits" | "role" | "suspendedBecause">> {
    const standing = await this.#store.standing(accountId);
    const { role = "user", suspendedBecause = null } = standing ?? {};
    return { limits: resolveLimits(standing?.limits), role, suspendedBecause };
  }
}
