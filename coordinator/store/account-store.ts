import type { Posting } from "../credits/postings.ts";
import type { KeyLimits } from "./key-spending.ts";

/** `operator`: may see and change what belongs to the whole network. Only a command gives or takes it. */
export const ROLES = ["user", "operator"] as const;
export type Role = (typeof ROLES)[number];

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly createdAtMs: number;
  /** Spendable balance; what is held for unfinished jobs is not in it. */
  readonly balanceMicro: number;
  readonly role: Role;
}

export const SCOPES = ["read", "write"] as const;
export type Scope = (typeof SCOPES)[number];

/** An API key without its secret, which is stored only as SHA-256. */
export interface ApiKey extends KeyLimits {
  readonly id: string;
  /** Given by the store, and never again: what rows of jobs have of the key that they came with. */
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  /** The secret's first 11 characters. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** An API key that is not stored yet; a limit that is absent is none. */
export type NewApiKey = Omit<ApiKey, "number" | "lastUsedAtMs" | keyof KeyLimits> &
  Partial<KeyLimits> & { readonly secretHash: string };

export interface IslandToken {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** When an Island last began a session with it. */
  readonly lastUsedAtMs: number | null;
}

/** An Island token that is not stored yet. */
export type NewIslandToken = Omit<IslandToken, "lastUsedAtMs"> & { readonly tokenHash: string };

/** A code that is exchanged for an Island token, once. Stored as SHA-256. */
export interface PairingCode {
  readonly codeHash: string;
  readonly accountId: string;
  /** Of the token. */
  readonly name: string;
  readonly expiresAtMs: number;
}

/** How many Island tokens an account may have. */
export interface TokenCap {
  readonly maxTokens: number;
  /** Tokens revoked after this moment still count. */
  readonly revokedAfterMs: number;
}

/** Limits that the operator set for one account; null means the default of `quotas/account-limits.ts`. Source: spec §8. */
export interface AccountLimits {
  /** For each API key and each session. */
  readonly requestsPerMinute: number | null;
  /** Unfinished jobs. */
  readonly concurrentJobs: number | null;
  readonly concurrentStreams: number | null;
  /** Weight in the fair share of slot time between accounts that wait. */
  readonly share: number | null;
}

/** What decides about a request of an account. */
export interface AccountStanding {
  readonly limits: AccountLimits;
  readonly role: Role;
  /** Why the account is suspended; null: it is not. */
  readonly suspendedBecause: string | null;
}

export interface Session {
  readonly accountId: string;
  readonly expiresAtMs: number;
}

export interface PasswordReset {
  readonly accountId: string;
  readonly expiresAtMs: number;
}

/** How many keys an account may have. */
export interface KeyCap {
  readonly maxKeys: number;
  /** Keys revoked after this moment still count. */
  readonly revokedAfterMs: number;
}

/** Accounts and all their credentials. Secrets reach this port only as hashes (hex SHA-256, or scrypt for passwords). */
export interface AccountStore {
  /**
   * Creates the account and stores its first grant in the same commit.
   * @throws {ServiceError} `email_taken`, addresses compare without case; then the refusal of the postings (`refusalOf`). Nothing is
   *   stored.
   */
  create(account: {
    id: string;
    email: string;
    passwordHash: string;
    /** The first grant; may be empty. */
    postings: readonly Posting[];
    createdAtMs: number;
  }): Promise<Account>;
  get(accountId: string): Promise<Account | undefined>;
  getByEmail(email: string): Promise<Account | undefined>;
  passwordHash(accountId: string): Promise<string | undefined>;
  /** Also ends the account's sessions, but for the one with `keptTokenHash`, and all its password resets. False for no such account. */
  setPassword(change: { accountId: string; passwordHash: string; keptTokenHash: string | null }): Promise<boolean>;
  /** Stores a password reset. False if the account has `maxResets` that have not expired; nothing is stored then. */
  createReset(reset: PasswordReset & { tokenHash: string; nowMs: number; maxResets: number }): Promise<boolean>;
  /** Account of a password reset that has not expired at `nowMs`. */
  findReset(tokenHash: string, nowMs: number): Promise<string | undefined>;
  /** Sets the password like {@link setPassword}, and uses the reset up. False if it was used or has expired. */
  useReset(use: { tokenHash: string; passwordHash: string; nowMs: number }): Promise<boolean>;
  /**
   * Deletes what says whose account it is: address, password, keys, sessions, Island tokens, pairing codes. From then on nobody can sign in to it. Also
   * begins the removal of its content (`content.ts`), in one commit. Its id stays, for the ledger. False for no such account.
   */
  delete(accountId: string, atMs: number): Promise<boolean>;
  /**
   * Stores a registration that a mail must prove, in place of an earlier one of the address. False, and nothing is stored, if the
   * earlier one expires after `keptIfAfterMs`. Expired ones are removed.
   */
  createSignUp(signUp: {
    tokenHash: string;
    email: string;
    expiresAtMs: number;
    nowMs: number;
    keptIfAfterMs: number;
  }): Promise<boolean>;
  /** The address of a registration that has not expired at `nowMs`. */
  findSignUp(tokenHash: string, nowMs: number): Promise<string | undefined>;
  deleteSignUp(tokenHash: string): Promise<void>;
  /** Undefined for an unknown or deleted account. */
  standing(accountId: string): Promise<AccountStanding | undefined>;
  /** Undefined for an unknown account. */
  limits(accountId: string): Promise<AccountLimits | undefined>;
  /** Changes the given limits; null restores a default. @throws {ServiceError} `not_found`. */
  setLimits(accountId: string, limits: Partial<AccountLimits>): Promise<AccountLimits>;

  /** Resolves with the key's number. @throws {ServiceError} `too_many_keys`, also when concurrent calls would exceed the cap together. */
  createKey(key: NewApiKey, cap: KeyCap): Promise<number>;
  /** The active key with this hash; undefined if there is none. */
  findKey(secretHash: string): Promise<ApiKey | undefined>;
  /** Active keys, newest first. */
  listKeys(accountId: string): Promise<ApiKey[]>;
  /**
   * A number that another process's changes raise too: with every change after which a key, a session or a limit that was read before
   * means something else. It is read with every request.
   */
  credentialsRevision(): Promise<number>;
  /** False if the account has no such active key. */
  revokeKey(accountId: string, keyId: string, atMs: number): Promise<boolean>;
  touchKey(keyId: string, atMs: number): Promise<void>;

  /** Ends the account's oldest sessions beyond `maxSessions` (1 or more). */
  createSession(session: Session & { tokenHash: string; createdAtMs: number }, maxSessions: number): Promise<void>;
  /** Undefined if the session has expired at `nowMs` or was deleted. */
  findSession(tokenHash: string, nowMs: number): Promise<Session | undefined>;
  deleteSession(tokenHash: string): Promise<void>;

  /** @throws {ServiceError} `too_many_tokens`, also when concurrent calls would exceed the cap together. */
  createIslandToken(token: NewIslandToken, cap: TokenCap): Promise<void>;
  touchIslandToken(tokenId: string, atMs: number): Promise<void>;
  /** Removes codes that have expired at `nowMs`. @throws {ServiceError} `too_many_codes` if the account has `maxCodes` others. */
  createPairingCode(code: PairingCode, limits: { nowMs: number; maxCodes: number }): Promise<void>;
  /**
   * Uses a code up and stores its token, in one commit. Undefined for a code that is unknown, used or expired at `createdAtMs`.
   * @throws {ServiceError} `too_many_tokens`; the code stays.
   */
  redeemPairingCode(
    token: Pick<NewIslandToken, "id" | "tokenHash" | "createdAtMs"> & { codeHash: string },
    cap: TokenCap,
  ): Promise<Pick<IslandToken, "accountId" | "name"> | undefined>;
  findIslandToken(tokenHash: string): Promise<IslandToken | undefined>;
  /** True for the id of a token that is not revoked. */
  hasIslandToken(tokenId: string): Promise<boolean>;
  /** Active tokens, newest first. */
  listIslandTokens(accountId: string): Promise<IslandToken[]>;
  /** False if the account has no such active token. */
  revokeIslandToken(accountId: string, tokenId: string, atMs: number): Promise<boolean>;
}
