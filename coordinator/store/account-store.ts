import type { Posting } from "../credits/postings.ts";

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly createdAtMs: number;
  /** What may be spent now, without what is held for unfinished jobs. */
  readonly balanceMicro: number;
}

export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key without its secret, which is stored only as SHA-256. */
export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** The secret's first 11 characters. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export interface IslandToken {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdAtMs: number;
}

/** Limits that the operator set for one account; null: the default of `quotas/account-limits.ts`. Source: spec §8. */
export interface AccountLimits {
  /** Of each API key and each session. */
  readonly requestsPerMinute: number | null;
  /** Unfinished jobs. */
  readonly concurrentJobs: number | null;
  readonly concurrentStreams: number | null;
}

export interface Session {
  readonly accountId: string;
  readonly expiresAtMs: number;
}

/** How many keys an account may have. */
export interface KeyCap {
  readonly maxKeys: number;
  /** Keys that were revoked after this moment count like those that work. */
  readonly revokedAfterMs: number;
}

/** Accounts and all their credentials. Secrets reach this port only as hashes (hex SHA-256, or scrypt for passwords). */
export interface AccountStore {
  /**
   * Creates the account and stores its first grant in the same commit.
   * @throws {ServiceError} `email_taken`, addresses compare without case; then what `refusalOf` says of the postings. Nothing is
   *   stored.
   */
  create(account: {
    id: string;
    email: string;
    passwordHash: string;
    /** Of its first grant; may be empty. */
    postings: readonly Posting[];
    createdAtMs: number;
  }): Promise<Account>;
  get(accountId: string): Promise<Account | undefined>;
  getByEmail(email: string): Promise<Account | undefined>;
  passwordHash(accountId: string): Promise<string | undefined>;
  /** Undefined for an unknown account. */
  limits(accountId: string): Promise<AccountLimits | undefined>;
  /** Changes the limits that are given; null puts one back to its default. @throws {ServiceError} `not_found`. */
  setLimits(accountId: string, limits: Partial<AccountLimits>): Promise<AccountLimits>;

  /** @throws {ServiceError} `too_many_keys`, also when calls at once would pass the cap together. */
  createKey(key: Omit<ApiKey, "lastUsedAtMs"> & { secretHash: string }, cap: KeyCap): Promise<void>;
  /** The key that is not revoked, by its secret's hash. */
  findKey(secretHash: string): Promise<ApiKey | undefined>;
  /** Newest first; revoked keys are not listed. */
  listKeys(accountId: string): Promise<ApiKey[]>;
  /** False when the account has no such key that still works. */
  revokeKey(accountId: string, keyId: string, atMs: number): Promise<boolean>;
  touchKey(keyId: string, atMs: number): Promise<void>;

  /** Of more than `maxSessions` (1 or more) of the account, the oldest end. */
  createSession(session: Session & { tokenHash: string; createdAtMs: number }, maxSessions: number): Promise<void>;
  /** The session that has not expired at `nowMs`. */
  findSession(tokenHash: string, nowMs: number): Promise<Session | undefined>;
  deleteSession(tokenHash: string): Promise<void>;

  createIslandToken(token: IslandToken & { tokenHash: string }): Promise<void>;
  findIslandToken(tokenHash: string): Promise<IslandToken | undefined>;
  /** Newest first; revoked tokens are not listed. */
  listIslandTokens(accountId: string): Promise<IslandToken[]>;
  /** False when the account has no such token that still works. */
  revokeIslandToken(accountId: string, tokenId: string, atMs: number): Promise<boolean>;
}
