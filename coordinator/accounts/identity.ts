import { ServiceError } from "../../shared/errors.ts";
import type { AskedTerms, Trust } from "../credits/trust.ts";
import type { ResolvedLimits } from "../quotas/account-limits.ts";
import type { Account, AccountStore, Role } from "../store/accounts/accounts.ts";
import type { Scope } from "../store/accounts/credentials.ts";
import { NO_KEY_LIMITS, type KeyLimits, type UsedKey } from "../store/accounts/key-spending.ts";

/** The caller of an API request. A session has every scope and may manage keys. */
export type Identity = {
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  /** Limits of the account, read for each request so that a change applies at once. */
  readonly limits: ResolvedLimits;
  readonly role: Role;
  /** Reason of the account's suspension; null if the account is not suspended. */
  readonly suspensionReason: string | null;
} & (
  | {
      readonly kind: "key";
      readonly keyId: string;
      readonly keyNumber: number;
      /** Trust of jobs that ask for none; null for any Island. */
      readonly keyTrust: Trust | null;
      /** Limits of the key; absent if it has none. */
      readonly keyLimits?: KeyLimits;
    }
  | { readonly kind: "session"; readonly tokenHash: string }
);

/** The account that submits jobs, and its demands. `apiKey`: the limits of the API key; null for a session. */
export interface Submitter extends AskedTerms {
  readonly accountId: string;
  readonly limits: ResolvedLimits;
  readonly apiKey: UsedKey | null;
  /** Paths of ignored request parameters; see `SubmissionRequest`. */
  readonly ignoredParameters?: readonly string[];
}

export function submitterOf(identity: Identity): Submitter {
  const { accountId, limits } = identity;
  if (identity.kind !== "key") return { accountId, limits, apiKey: null };
  const { cargos, monthlyMicro } = identity.keyLimits ?? NO_KEY_LIMITS;
  return { accountId, limits, apiKey: { number: identity.keyNumber, cargos, monthlyMicro, trust: identity.keyTrust } };
}

/** The account and token under which an Island connects. */
export interface IslandIdentity {
  readonly accountId: string;
  readonly tokenId: string;
  readonly tokenCreatedAtMs: number;
}

/** A new session and its account. `token` is stored only as a hash. */
export interface SignedIn {
  readonly token: string;
  readonly expiresAtMs: number;
  readonly account: Account;
}

export function accountSuspended(reason: string): ServiceError {
  return new ServiceError("account_suspended", `The operator suspended this account: ${reason}`);
}

/** Checks an account's status. Returns false if it was deleted. @throws {ServiceError} `account_suspended` */
export async function assertNotSuspended(
  store: Pick<AccountStore, "accountStatus">,
  accountId: string,
): Promise<boolean> {
  const accountStatus = await store.accountStatus(accountId);
  const reason = accountStatus?.suspensionReason ?? null;
  if (reason !== null) throw accountSuspended(reason);
  return accountStatus !== undefined;
}

export function accountDeleted(): ServiceError {
  return new ServiceError("not_found", "The account was deleted");
}
