import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Env } from "../env.ts";
import type { SendMail } from "../mail/smtp-mailer.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { Background } from "./background.ts";
import { accountDeleted } from "./identity.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

export const MAILED_TOKEN_MS = 3_600_000;
/** An address gets no second mail within this time, so that its mailbox cannot be filled. */
const MAIL_EVERY_MS = 600_000;
/** Addresses remembered for that by changes of an address; registrations are stored. */
const MAX_ADDRESSES = 10_000;
/** Mails of one kind under way; more are refused until the mail server keeps up. */
const MAX_MAILS = 100;
const BUSY_RETRY_S = 60;

type MailEnv = Pick<Env<"publicUrl">, "config" | "clock">;

export function tokenText(
  { publicUrl }: MailEnv["config"],
  token: string,
  mail: { readonly asks: string; readonly use: string; readonly request: string; readonly otherwise: string },
): string {
  const at = publicUrl === null ? "" : ` at ${publicUrl}`;
  return [
    `Somebody, probably you, ${mail.asks}${at}.`,
    mail.use,
    `\n    ${token}\n`,
    `With the API: POST ${mail.request}.`,
    `If it was not you, ignore this mail: ${mail.otherwise}.`,
    "",
  ].join("\n");
}

/** Bounds the mails of one kind that are under way. */
function outbox(background: Background, failed: string) {
  let inFlight = 0;
  return {
    /** @throws {RateLimitedError} while too many mails are under way. */
    assertFree(): void {
      if (inFlight >= MAX_MAILS) throw new RateLimitedError("login_attempts", BUSY_RETRY_S);
    },
    send(mail: Promise<void>): void {
      inFlight += 1;
      background.run(
        mail.finally(() => (inFlight -= 1)),
        failed,
      );
    },
  };
}

/**
 * Registrations that a mail must prove. The password is chosen with the mailed token, not before: an account must not get the password
 * of a stranger who registered someone else's address.
 */
export function openSignUps({ config, clock }: MailEnv, store: AccountStore, send: SendMail, background: Background) {
  const mails = outbox(background, "Could not mail a registration");

  async function mail(email: string): Promise<void> {
    const nowMs = clock.now();
    const token = newSecret("ep");
    const signUp = { tokenHash: hashSecret(token), email, expiresAtMs: nowMs + MAILED_TOKEN_MS };
    // Also for an address that has an account: this bounds its mails too, and its token is never sent.
    const isNew = await store.createSignUp({ ...signUp, nowMs, keptIfAfterMs: signUp.expiresAtMs - MAIL_EVERY_MS });
    if (!isNew) return;
    const account = await store.getByEmail(email);
    const text = tokenText(config, token, {
      asks: "registers this address",
      use: "To prove that it is yours, confirm with this token within an hour:",
      request: "/api/v1/auth/verify with the token and a password",
      otherwise: "there is no account without the token",
    });
    try {
      await send({
        to: account?.email ?? email,
        subject: "Your registration",
        text: account === undefined ? text : REGISTERED,
      });
    } catch (error) {
      // Nothing was sent, so the next registration need not wait.
      await store.deleteSignUp(signUp.tokenHash);
      throw error;
    }
  }

  return {
    /**
     * Mails a token to the address, or to an account's address that it has an account. Returns before either is known, so that neither
     * answer nor time tells which. @throws {RateLimitedError} while too many mails are under way.
     */
    request(email: string): void {
      mails.assertFree();
      mails.send(mail(email));
    },

    /** The address that the token proves. @throws {ServiceError} `bad_request` for a token that is unknown, used or expired. */
    async emailOf(token: string): Promise<string> {
      const email = secretKind(token) === "ep" ? await store.findSignUp(hashSecret(token), clock.now()) : undefined;
      if (email !== undefined) return email;
      throw new ServiceError("bad_request", "The token is not valid: unknown, used or expired; register again");
    },

    /** The account is made: its token is void. */
    done: (token: string): Promise<void> => store.deleteSignUp(hashSecret(token)),
  };
}

const REGISTERED = `Somebody, probably you, tried to register this address.
It has an account already: sign in with its password.
If it was not you, ignore this mail: nothing was changed.
`;

/**
 * Changes of an account's address. Where mail is set up, the new address is proved first, and the old one is told. `send`: null where
 * this coordinator sends no mail, and an address changes at once.
 */
export function openEmailChanges(
  { config, clock }: MailEnv,
  store: AccountStore,
  send: SendMail | null,
  background: Background,
) {
  const mails = outbox(background, "Could not mail about a changed address");
  /** When an address was last sent a token. */
  const mailedAtMs = recentMap<number>(MAX_ADDRESSES);

  async function mailToken(sendMail: SendMail, accountId: string, email: string): Promise<void> {
    const token = newSecret("ep");
    const holder = await store.getByEmail(email);
    const isTaken = holder !== undefined && holder.id !== accountId;
    const expiresAtMs = clock.now() + MAILED_TOKEN_MS;
    if (!isTaken) {
      await store.createEmailChange({ accountId, tokenHash: hashSecret(token), email, expiresAtMs });
    }
    const text = tokenText(config, token, {
      asks: "wants this address for an account",
      use: "To confirm it, use this token within an hour:",
      request: "/api/v1/auth/email with the token",
      otherwise: "nothing is changed without the token",
    });
    await sendMail({ to: email, subject: "Your new address", text: isTaken ? TAKEN : text });
  }

  return {
    /**
     * Changes the address, and resolves with null; or resolves with what mails the new one a token that does, whether or not another
     * account has the address. The caller calls it last: a new password voids tokens that were mailed before.
     * @throws {ServiceError} `email_taken` where no mail is sent; {@link RateLimitedError}.
     */
    async request(accountId: string, email: string): Promise<(() => void) | null> {
      if (send === null) {
        if (!(await store.setEmail(accountId, email))) throw accountDeleted();
        return null;
      }
      const nowMs = clock.monotonicMs();
      const address = email.toLowerCase();
      const waitMs = (mailedAtMs.get(address) ?? -Infinity) + MAIL_EVERY_MS - nowMs;
      if (waitMs > 0) throw new RateLimitedError("login_attempts", Math.ceil(waitMs / 1_000));
      mails.assertFree();
      mailedAtMs.set(address, nowMs);
      return () => mails.send(mailToken(send, accountId, email));
    },

    /**
     * Sets the address that the mailed token proves.
     * @throws {ServiceError} `bad_request` for a token that is unknown, used or expired; `email_taken`.
     */
    async confirm(token: string): Promise<void> {
      const change =
        secretKind(token) === "ep" ? await store.findEmailChange(hashSecret(token), clock.now()) : undefined;
      const before = change && (await store.get(change.accountId));
      if (change === undefined || before === undefined || !(await store.setEmail(change.accountId, change.email))) {
        throw new ServiceError(
          "bad_request",
          "The token is not valid: unknown, used or expired; change the address again",
        );
      }
      if (send === null) return;
      const text = `The address of your account is now ${change.email}.\nIf it was not you, tell the operator.\n`;
      mails.send(send({ to: before.email, subject: "Your address was changed", text }));
    },
  };
}

const TAKEN = `Somebody, probably you, wants this address for an account.
It has an account already. If it was not you, ignore this mail: nothing was changed.
`;
