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

/** Unused resets of an account, so that its mailbox cannot be filled. */
const MAX_RESETS = 3;
const OPERATOR_RESET_MS = 24 * 3_600_000;

/** A token that sets a new password once. `token` is not stored and cannot be shown again. */
interface ResetToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Who asks, and from which network address. */
export interface PasswordCaller {
  readonly accountId: string;
  readonly tokenHash: string;
  readonly address: string;
}

/**
 * Changes and resets of passwords. Only hashes are stored, of reset tokens too.
 * @param send null where this coordinator sends no mail, and only its operator makes resets.
 * @param countAttempt counts for a network address or an account. @throws {RateLimitedError}
 * @param onChanged called when sessions have ended with a password.
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
      asks: "asks for a new password",
      use: `To set one, use this token once, before ${new Date(reset.expiresAtMs).toISOString()}:`,
      request: "/api/v1/auth/password/reset with the token and a new password",
      otherwise: "your password stays as it is",
    });
    await sendMail({ to: account.email, subject: "Your new password", text });
  }

  const changes = {
    /**
     * Sets another password. All other sessions of the account end, and its resets and changes of the address are void.
     * @throws {ValidationError} for a wrong current password too; {@link RateLimitedError} like `check`.
     */
    async change(caller: PasswordCaller, current: string, next: string): Promise<void> {
      assertPassword(next, "new");
      await changes.check(caller, current, "current");
      await changes.set(caller, next);
    },

    /** Sets another password like `change`, of a caller who was checked. @throws {ServiceError} `not_found` */
    async set({ accountId, tokenHash }: PasswordCaller, next: string): Promise<void> {
      const passwordHash = await passwords.hash(next);
      if (!(await store.setPassword({ accountId, passwordHash, keptTokenHash: tokenHash }))) throw accountDeleted();
      onChanged();
    },

    /**
     * Checks the account's password before something that cannot be undone. `field`: of the request, for the error.
     * @throws {ValidationError} if it is wrong; {@link RateLimitedError} after 5 checks of the address or of the account within a minute.
     */
    async check({ accountId, address }: PasswordCaller, password: string, field: string): Promise<void> {
      for (const caller of [address, accountId]) countAttempt(caller);
      if (await passwords.verify(password, await store.passwordHash(accountId))) return;
      throw new ValidationError([{ path: field, message: "is not the account's password" }]);
    },

    /** A reset for an account's owner, made by the operator; valid for a day. @throws {ServiceError} `bad_request` if 3 are unused. */
    async createReset(accountId: string): Promise<ResetToken> {
      const reset = await storeReset(accountId, OPERATOR_RESET_MS);
      if (reset !== null) return reset;
      throw new ServiceError(
        "bad_request",
        `The account has ${MAX_RESETS} unused password resets; use one, or wait until one expires`,
      );
    },

    /**
     * Mails a reset, valid for an hour, to the address if it is an account's. Returns before it is known whether it is one, so that
     * neither answer nor time tells.
     * @throws {ServiceError} `insufficient_scope` if this coordinator sends no mail; {@link RateLimitedError} by network address.
     */
    request(email: string, address: string): void {
      if (send === null) {
        throw new ServiceError(
          "insufficient_scope",
          "This coordinator sends no e-mail; ask its operator to reset the password",
        );
      }
      countAttempt(address);
      background.run(mailReset(send, email), "Could not send a password reset");
    },

    /**
     * Sets a password with a reset token, which is then used up with all others of the account. All its sessions end.
     * @throws {ServiceError} `bad_request` for a token that is unknown, used or expired; {@link ValidationError};
     *   {@link RateLimitedError} by network address.
     */
    async reset(token: string, password: string, address: string): Promise<void> {
      assertPassword(password, "new");
      countAttempt(address);
      const tokenHash = hashSecret(token);
      // Looked up before the expensive hash; the write has the final check.
      const isKnown = secretKind(token) === "pr" && (await store.findReset(tokenHash, clock.now())) !== undefined;
      const isDone =
        isKnown &&
        (await store.useReset({ tokenHash, passwordHash: await passwords.hash(password), nowMs: clock.now() }));
      if (isDone) return onChanged();
      throw new ServiceError("bad_request", "The reset token is not valid: unknown, used or expired; ask for another");
    },
  };
  return changes;
}
