import type { ApiKey, Session } from "./account-store.ts";
import type { KeyLimits, UtcMonth } from "./key-spending.ts";

/** A session without its token, which is stored only as SHA-256. */
export interface SessionRecord extends Session {
  readonly tokenHash: string;
  readonly createdAtMs: number;
  /** Null until it is used; about a minute old at most. */
  readonly lastUsedAtMs: number | null;
}

/** An address that a mail must prove. */
export interface EmailChange {
  readonly accountId: string;
  readonly tokenHash: string;
  readonly email: string;
  readonly expiresAtMs: number;
}

/** What is changed of a key; absent members stay. */
export type KeyChange = Partial<KeyLimits & Pick<ApiKey, "name">>;

/** What an account's owner sees and changes of it: its address, its sessions, the limits of its keys. */
export interface AccountSettingsStore {
  /**
   * Sets the address. Resets of the password that the old one was sent, and a change that waits for its mail, are void.
   * False for no such account. @throws {ServiceError} `email_taken`.
   */
  setEmail(accountId: string, email: string): Promise<boolean>;
  /** In place of an earlier one of the account. */
  createEmailChange(change: EmailChange): Promise<void>;
  /** The change that has not expired at `nowMs`. */
  findEmailChange(tokenHash: string, nowMs: number): Promise<Pick<EmailChange, "accountId" | "email"> | undefined>;

  /** Those that have not expired at `nowMs`, newest first. */
  listSessions(accountId: string, nowMs: number): Promise<SessionRecord[]>;
  touchSession(tokenHash: string, atMs: number): Promise<void>;

  /**
   * Changes an active key; undefined if the account has none with this id. A key that gets a monthly limit has spent what its jobs were
   * charged since the month of `nowMs` began, and what those that have not ended hold.
   */
  changeKey(accountId: string, keyId: string, change: KeyChange, nowMs: number): Promise<ApiKey | undefined>;
  /** What the account's keys with a monthly limit spent in the month, in micro-credits by key; none for nothing. */
  keySpending(accountId: string, month: UtcMonth): Promise<ReadonlyMap<string, number>>;
}
