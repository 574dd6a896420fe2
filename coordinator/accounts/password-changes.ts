import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import type { SendMail } from "../mail/smtp-mailer.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { Background } from "./background.ts";
import { assertPassword } from "./credential-fields.ts";
import { accountDeleted } from "./identity.ts";
import { MAILED_TOKEN_MS, tokenText } from "./mailed-tokens.ts";
import type { Passwords } from "./passwords.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

/** Maximum number of unused resets of an account, so that its mailbox cannot be flooded. */
const MAX_RESETS = 3;
/** Lifetime of a reset that the operator creates. */
const OPERATOR_RESET_MS = 24 * 3_600_000;

/** A token with which a new password can be set once. `token` is stored only as a hash. */
interface ResetToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** The account, session and network address of a signed-in caller. */
export interface PasswordCaller {
  readonly accountId: string;
  readonly tokenHash: string;
  readonly address: string;
}

/**
 * Manages changes and resets of passwords.
 * @param send null if this coordinator sends no mail; resets are then created only by its operator.
 * @param countAttempt counts an attempt of a network address or an account. @throws {RateLimitedError}
 * @param onChanged called after a password change has ended sessions.
 */
export function openPasswordChanges(
  { config, clock }: Pick<Env<"publicUrl">, "config" | "clock">,
  store: AccountStore,
  passwords: Passwords,
  send: SendMail | null,
  background: Background,
  countAttempt: (caller: string) => void,
  onChanged: () => void,
) {
  async function storeReset(accountId: string, lifetimeMs: number): Promise<ResetToken | null> {
    const nowMs = clock.now();
    const token = newSecret("pr");
    const reset = { accountId, tokenHash: hashSecret(token), expiresAtMs: nowMs + lifetimeMs };
    const isStored = await store.createReset({ ...reset, nowMs, maxResets: MAX_RESETS });
    return isStored ? { token, expiresAtMs: reset.expiresAtMs } : null;
  }

  async function mailReset(sendMail: SendMail, email: string): Promise<void> {
    const account = await store.getByEmail(email);
    if (account === undefined) return;
    const reset = await storeReset(account.id, MAILED_TOKEN_MS);
    if (reset === null) return;
    const text = tokenText(config, reset.token, {
      action: "asked for a new password",
      use: `To set one, use this token once, before ${new Date(reset.expiresAtMs).toISOString()}:`,
      request: "/api/v1/auth/password/reset with the token and a new password",
      otherwise: "your password stays as it is",
    });
    await sendMail({ to: account.email, subject: "Reset your password", text });
  }

  const changes = {
    /**
     * Changes the password, ends the account's other sessions, and deletes its resets and pending address change.
     * @throws {ValidationError} also for a wrong current password; {@link RateLimitedError} like `check`
     */
    async change(caller: PasswordCaller, current: string, next: string): Promise<void> {
      assertPassword(next, "new");
      await changes.check(caller, current, "current");
      await changes.set(caller, next);
    },

    /** Sets the password like `change`, without a check of the current one. @throws {ServiceError} `not_found` */
    async set({ accountId, tokenHash }: PasswordCaller, next: string): Promise<void> {
      const passwordHash = await passwords.hash(next);
      if (!(await store.setPassword({ accountId, passwordHash, keptTokenHash: tokenHash }))) throw accountDeleted();
      onChanged();
    },

    /**
     * Checks a password of the account. `field`: request field that the error names.
     * @throws {ValidationError} if the password is wrong; {@link RateLimitedError} by network address and by account
     */
    async check({ accountId, address }: PasswordCaller, password: string, field: string): Promise<void> {
      for (const caller of [address, accountId]) countAttempt(caller);
      if (await passwords.verify(password, await store.passwordHash(accountId))) return;
      throw new ValidationError([{ path: field, message: "is not the account's password" }]);
    },

    /** Creates a reset, valid for a day. @throws {ServiceError} `bad_request` if the account has 3 unused resets */
    async createReset(accountId: string): Promise<ResetToken> {
      const reset = await storeReset(accountId, OPERATOR_RESET_MS);
      if (reset !== null) return reset;
      const message = `The account has ${MAX_RESETS} unused password resets; use one, or wait until one expires`;
      throw new ServiceError("bad_request", message);
    },

    /**
     * Mails a reset, valid for an hour, if an account has the e-mail address. Returns before the look-up, so that
     * neither response nor timing reveals whether there is an account.
     * @throws {ServiceError} `insufficient_scope` without mail; {@link RateLimitedError} by network address
     */
    request(email: string, address: string): void {
      const noMail = "This coordinator sends no e-mail; ask its operator to reset the password";
      if (send === null) throw new ServiceError("insufficient_scope", noMail);
      countAttempt(address);
      background.run(mailReset(send, email), "Could not send a password reset");
    },

    /**
     * Sets a password with a reset token, deletes all reset tokens of the account and ends all its sessions.
     * @throws {ServiceError} `bad_request` for an invalid token; {@link ValidationError}; {@link RateLimitedError} by
     *   network address
     */
    async reset(token: string, password: string, address: string): Promise<void> {
      assertPassword(password, "new");
      countAttempt(address);
      const tokenHash = hashSecret(token);
      // This check only saves the cost of a hash for unknown tokens; the write checks again.
      if (secretKind(token) === "pr" && (await store.findReset(tokenHash, clock.now())) !== undefined) {
        const passwordHash = await passwords.hash(password);
        if (await store.useReset({ tokenHash, passwordHash, nowMs: clock.now() })) return onChanged();
      }
      throw new ServiceError("bad_request", "The reset token is unknown, used or expired. Request another one");
    },
  };
  return changes;
}
