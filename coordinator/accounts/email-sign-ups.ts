import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

/** How long a mailed token is valid. */
const TOKEN_MS = 3_600_000;
/** An address gets no second mail within this time: nobody can fill its mailbox. */
const MAIL_EVERY_MS = 600_000;
/** Mails under way; more are refused until the mail server keeps up. */
const MAX_MAILS = 100;
const BUSY_RETRY_S = 60;

export interface EmailSignUpsDeps {
  readonly store: Pick<AccountStore, "getByEmail" | "createSignUp" | "findSignUp" | "deleteSignUp">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Pick<Logger, "error">;
  readonly mailer: Mailer;
  /** Where the API is, for the mail's text. */
  readonly publicUrl: string | null;
}

/**
 * Registrations that a mail must prove. The password is chosen with the mailed token, not before: an account must not get the password
 * of a stranger who registered someone else's address.
 */
export class EmailSignUps {
  readonly #deps: EmailSignUpsDeps;
  readonly #mails = new Set<Promise<void>>();

  constructor(deps: EmailSignUpsDeps) {
    this.#deps = deps;
  }

  /**
   * Mails a token to the address, or to an account's address that it has an account. Returns before either is known, so that neither
   * answer nor time tells which. @throws {RateLimitedError} while too many mails are under way.
   */
  request(email: string): void {
    if (this.#mails.size >= MAX_MAILS) throw new RateLimitedError("login_attempts", BUSY_RETRY_S);
    const mailed = this.#mail(email)
      .catch((error: unknown) => this.#deps.log.error({ err: error }, "Could not mail a registration"))
      .finally(() => this.#mails.delete(mailed));
    this.#mails.add(mailed);
  }

  /** The address that the token proves. @throws {ServiceError} `bad_request` for a token that is unknown, used or expired. */
  async emailOf(token: string): Promise<string> {
    const { store, clock } = this.#deps;
    const email = secretKind(token) === "ep" ? await store.findSignUp(hashSecret(token), clock.now()) : undefined;
    if (email === undefined) {
      throw new ServiceError("bad_request", "The token is not valid: unknown, used or expired; register again");
    }
    return email;
  }

  /** The account is made: its token is void. */
  async done(token: string): Promise<void> {
    await this.#deps.store.deleteSignUp(hashSecret(token));
  }

  /** Resolves when no mail is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#mails);
  }

  async #mail(email: string): Promise<void> {
    const { store, clock, mailer } = this.#deps;
    const nowMs = clock.now();
    const token = newSecret("ep");
    const signUp = { tokenHash: hashSecret(token), email, expiresAtMs: nowMs + TOKEN_MS };
    // Also for an address that has an account: this bounds its mails too, and its token is never sent.
    const isNew = await store.createSignUp({ ...signUp, nowMs, keptIfAfterMs: signUp.expiresAtMs - MAIL_EVERY_MS });
    if (!isNew) return;
    const account = await store.getByEmail(email);
    const text = account === undefined ? this.#textWith(token) : TAKEN;
    try {
      await mailer.send({ to: account?.email ?? email, subject: "Your registration", text });
    } catch (error) {
      // Nothing was sent, so the next registration need not wait.
      await store.deleteSignUp(signUp.tokenHash);
      throw error;
    }
  }

  #textWith(token: string): string {
    const at = this.#deps.publicUrl === null ? "" : ` at ${this.#deps.publicUrl}`;
    return [
      `Somebody, probably you, registers this address${at}.`,
      `To prove that it is yours, confirm with this token within an hour:`,
      `\n    ${token}\n`,
      "With the API: POST /api/v1/auth/verify with the token and a password.",
      "If it was not you, ignore this mail: there is no account without the token.",
      "",
    ].join("\n");
  }
}

const TAKEN = `Somebody, probably you, tried to register this address.
It has an account already: sign in with its password.
If it was not you, ignore this mail: nothing was changed.
`;
