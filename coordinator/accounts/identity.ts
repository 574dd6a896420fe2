import type { ResolvedLimits } from "../quotas/account-limits.ts";
import type { Account, Role, Scope } from "../store/account-store.ts";

/** The caller of an API request. A session has every scope and may manage keys. */
export type Identity = {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  /** As they are when the request comes, so that a change applies at once. */
  readonly limits: ResolvedLimits;
  readonly role: Role;
  /** Why the account is suspended; null: it is not. */
  readonly suspendedBecause: string | null;
} & ({ readonly kind: "key"; readonly keyId: string } | { readonly kind: "session"; readonly tokenHash: string });

/** The account that an Island token belongs to. */
export interface IslandIdentity {
  readonly accountId: string;
  readonly tokenId: string;
  readonly tokenCreatedAtMs: number;
}

/** A new session. `token` is not stored and cannot be shown again. */
export interface SignedIn {
  readonly token: string;
  readonly expiresAtMs: number;
  readonly account: Account;
}
