import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { RateLimitedError, ServiceError, ValidationError } from "../../shared/errors.ts";
import type { RequestWindow } from "../quotas/request-window.ts";
import type { Account, AccountStore } from "../store/accounts/accounts.ts";
import { assertPassword } from "./credential-fields.ts";
import type { Passwords } from "./passwords.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

/** Sign-ins, registrations and checks of a password in a minute, of one network address and of one account. */
export const MAX_ATTEMPTS = 5;
/** Unused resets of an account: nobody can fill its mailbox. */
const MAX_RESETS = 3;
const MAIL_RESET_MS = 3_600_000;
const OPERATOR_RESET_MS = 24 * 3_600_000;

/** A token that sets a new password once. `token` is not stored and cannot be shown again. */
export interface ResetToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Sends the token of a reset to the account's address. The port of a mail transport. */
export type SendReset = (mail: ResetToken & { readonly email: string }) => Promise<void>;

export interface PasswordChangesDeps {
  readonly store: AccountStore;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Logger, "error">;
  readonly passwords: Passwords;
  readonly attempts: RequestWindow;
  /** Null: this coordinator sends no mail, and only its operator makes resets. */
  readonly sendReset: SendReset | null;
  /** Called when sessions have ended with a password. */
  readonly onChanged: () => void;
}

/** Who asks, and from which network address. */
export interface PasswordCaller {
  readonly accountId: string;
  readonly tokenHash: string;
  readonly address: string;
}

/** Changes and resets of passwords. Only hashes are stored, of reset tokens too. */
export class PasswordChanges {
  readonly #deps: PasswordChangesDeps;
  readonly #mails = new Set<Promise<void>>();

  constructor(deps: PasswordChangesDeps) {
    this.#deps = deps;
  }

  /**
   * Sets another password. All other sessions of the account end, and its resets and changes of the address are void.
   * @throws {ValidationError} for a wrong current password too; {@link RateLimitedError} like {@link check}.
   */
  async change(caller: PasswordCaller, current: string, next: string): Promise<void> {
    assertPassword(next, "new");
    await this.check(caller, current, "current");
    await this.set(caller, next);
  }

  /** Sets another password like {@link change}, of a caller who was checked. @throws {ServiceError} `not_found` */
  async set(caller: Pick<PasswordCaller, "accountId" | "tokenHash">, next: string): Promise<void> {
    const { store, passwords } = this.#deps;
    const passwordHash = await passwords.hash(next);
    const { accountId, tokenHash } = caller;
    if (!(await store.setPassword({ accountId, passwordHash, keptTokenHash: tokenHash }))) throw noAccount();
    this.#deps.onChanged();
  }

  /**
   * Checks the account's password before something that cannot be undone. `field`: of the request, for the error.
   * @throws {ValidationError} if it is wrong; {@link RateLimitedError} after 5 checks of the address or of the account within a minute.
   */
  async check({ accountId, address }: PasswordCaller, password: string, field: string): Promise<void> {
    const { store, passwords } = this.#deps;
    for (const caller of [address, accountId]) this.#countAttempt(caller);
    if (await passwords.verify(password, await store.passwordHash(accountId))) return;
    throw new ValidationError([{ path: field, message: "is not the account's password" }]);
  }

  /** A reset for an account's owner, made by the operator; valid for a day. @throws {ServiceError} `bad_request` if 3 are unused. */
  async createReset(accountId: string): Promise<ResetToken> {
    const reset = await this.#store(accountId, OPERATOR_RESET_MS);
    if (reset !== null) return reset;
    throw new ServiceError(
      "bad_request",
      `The account has ${MAX_RESETS} unused password resets; use one, or wait until one expires`,
    );
  }

  /**
   * Mails a reset, valid for an hour, to the address if it is an account's. Resolves before it is known whether it is one, so that
   * neither answer nor time tells.
   * @throws {ServiceError} `insufficient_scope` if this coordinator sends no mail; {@link RateLimitedError} by network address.
   */
  async request(email: string, address: string): Promise<void> {
    const { sendReset, log } = this.#deps;
    if (sendReset === null) {
      throw new ServiceError(
        "insufficient_scope",
        "This coordinator sends no e-mail; ask its operator to reset the password",
      );
    }
    this.#countAttempt(address);
    const mailed = this.#mail(email, sendReset)
      .catch((error: unknown) => log.error({ err: error }, "Could not send a password reset"))
      .finally(() => this.#mails.delete(mailed));
    this.#mails.add(mailed);
  }

  /**
   * Sets a password with a reset token, which is then used up with all others of the account. All its sessions end.
   * @throws {ServiceError} `bad_request` for a token that is unknown, used or expired; {@link ValidationError};
   *   {@link RateLimitedError} by network address.
   */
  async reset(token: string, password: string, address: string): Promise<void> {
    const { store, clock, passwords } = this.#deps;
    assertPassword(password, "new");
    this.#countAttempt(address);
    const tokenHash = hashSecret(token);
    // Looked up before the expensive hash; the write has the final check.
    const isKnown = secretKind(token) === "pr" && (await store.findReset(tokenHash, clock.now())) !== undefined;
    const isDone =
      isKnown &&
      (await store.useReset({ tokenHash, passwordHash: await passwords.hash(password), nowMs: clock.now() }));
    if (isDone) return this.#deps.onChanged();
    throw new ServiceError("bad_request", "The reset token is not valid: unknown, used or expired; ask for another");
  }

  /** Resolves when no mail is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#mails);
  }

  async #mail(email: string, send: SendReset): Promise<void> {
    const account: Account | undefined = await this.#deps.store.getByEmail(email);
    if (account === undefined) return;
    const reset = await this.#store(account.id, MAIL_RESET_MS);
    if (reset !== null) await send({ ...reset, email: account.email });
  }

  async #store(accountId: string, lifetimeMs: number): Promise<ResetToken | null> {
    const { store, clock } = this.#deps;
    const nowMs = clock.now();
    const token = newSecret("pr");
    const reset = { accountId, tokenHash: hashSecret(token), expiresAtMs: nowMs + lifetimeMs };
    const isStored = await store.createReset({ ...reset, nowMs, maxResets: MAX_RESETS });
    return isStored ? { token, expiresAtMs: reset.expiresAtMs } : null;
  }

  /** @throws {RateLimitedError} */
  #countAttempt(caller: string): void {
    const { isAllowed, freesInMs } = this.#deps.attempts.count(caller, MAX_ATTEMPTS);
    if (!isAllowed) throw new RateLimitedError("login_attempts", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }
}

function noAccount(): ServiceError {
  return new ServiceError("not_found", "The account was deleted");
}
