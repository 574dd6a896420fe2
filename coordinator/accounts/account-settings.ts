import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Account, AccountStore } from "../store/accounts/accounts.ts";
import type { ApiKey, KeyChange, SessionRecord } from "../store/accounts/credentials.ts";
import { utcMonthOf } from "../store/accounts/key-spending.ts";
import { assertPassword, EMAIL_PATTERN, MAX_EMAIL } from "./credential-fields.ts";
import { EmailChanges, type EmailChangesDeps } from "./email-changes.ts";
import { readKeyChange } from "./key-limits.ts";
import type { PasswordCaller, PasswordChanges } from "./password-changes.ts";

export interface AccountSettingsDeps {
  readonly store: AccountStore;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly log: Pick<Logger, "error">;
  readonly passwords: PasswordChanges;
  /** By which a new address is proved. Absent: an address changes without a proof. */
  readonly mail?: Pick<EmailChangesDeps, "mailer" | "publicUrl"> | undefined;
  /** Called when credentials have ended or mean something else. */
  readonly onChanged: () => void;
}

/** A session as its owner sees it. */
export interface ShownSession extends Omit<SessionRecord, "tokenHash" | "accountId"> {
  readonly id: string;
  /** The one that asks. */
  readonly isCurrent: boolean;
}

/** An account after a change. `pendingEmail`: an address that counts once the token that was mailed to it is used. */
export interface ChangedAccount {
  readonly account: Account;
  readonly pendingEmail: string | null;
}

/** Characters of a token's hash in the id of its session: 96 bits, of which no token can be made. */
const ID_CHARS = 24;

/** What an account's owner changes of it: password, address, sessions, limits of its keys. */
export class AccountSettings {
  readonly emails: EmailChanges;
  readonly #deps: AccountSettingsDeps;

  constructor(deps: AccountSettingsDeps) {
    this.#deps = deps;
    this.emails = new EmailChanges({ mailer: null, publicUrl: null, ...deps, ...deps.mail });
  }

  /**
   * Sets another password, another address, or both. With a password all other sessions of the account end.
   * @throws {ValidationError} also for a wrong current password; {@link RateLimitedError}; {@link ServiceError} `email_taken`,
   *   `not_found`.
   */
  async change(
    caller: PasswordCaller,
    currentPassword: string,
    change: { readonly password?: string | undefined; readonly email?: string | undefined },
  ): Promise<ChangedAccount> {
    const { passwords } = this.#deps;
    const { password, email } = change;
    if (password !== undefined) assertPassword(password, "password");
    if (email !== undefined && (email.length > MAX_EMAIL || !EMAIL_PATTERN.test(email))) {
      throw new ValidationError([{ path: "email", message: "is not an e-mail address" }]);
    }
    await passwords.check(caller, currentPassword, "current_password");
    // First, as it may be refused.
    const isChanged = email !== undefined && email !== (await this.#find(caller.accountId)).email;
    const mailToken = isChanged ? await this.emails.request(caller.accountId, email) : null;
    if (password !== undefined) await passwords.set(caller, password);
    mailToken?.();
    return { account: await this.#find(caller.accountId), pendingEmail: mailToken === null ? null : (email ?? null) };
  }

  /** Newest first. */
  async listSessions({ accountId, tokenHash: current }: PasswordCaller): Promise<ShownSession[]> {
    const sessions = await this.#deps.store.listSessions(accountId, this.#deps.clock.now());
    return sessions.map(({ tokenHash, createdAtMs, lastUsedAtMs, expiresAtMs }) => {
      return { id: sessionIdOf(tokenHash), createdAtMs, lastUsedAtMs, expiresAtMs, isCurrent: tokenHash === current };
    });
  }

  /** Ends a session; resolves with the hash of its token. Undefined if the account has none with this id. */
  async endSession(accountId: string, id: string): Promise<string | undefined> {
    const { store, clock, onChanged } = this.#deps;
    const sessions = await store.listSessions(accountId, clock.now());
    const session = sessions.find(({ tokenHash }) => sessionIdOf(tokenHash) === id);
    if (session === undefined) return undefined;
    await store.deleteSession(session.tokenHash);
    onChanged();
    return session.tokenHash;
  }

  /** Undefined if the account has no such active key. @throws {ValidationError} */
  async changeKey(accountId: string, keyId: string, change: KeyChange): Promise<ApiKey | undefined> {
    const { store, clock, onChanged } = this.#deps;
    const nowMs = clock.now();
    const changed = await store.changeKey(accountId, keyId, readKeyChange(change, nowMs), nowMs);
    if (changed !== undefined) onChanged();
    return changed;
  }

  /** What the account's keys with a monthly limit spent in this month, in micro-credits by key. */
  keySpending(accountId: string): Promise<ReadonlyMap<string, number>> {
    return this.#deps.store.keySpending(accountId, utcMonthOf(this.#deps.clock.now()));
  }

  async #find(accountId: string): Promise<Account> {
    const account = await this.#deps.store.get(accountId);
    if (account === undefined) throw new ServiceError("not_found", "The account was deleted");
    return account;
  }
}

function sessionIdOf(tokenHash: string): string {
  return `ses_${tokenHash.slice(0, ID_CHARS)}`;
}
