import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Env } from "../env.ts";
import type { SendMail } from "../mail/smtp-mailer.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { Background } from "./background.ts";
import { accountDeleted } from "./identity.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

export const MAILED_TOKEN_MS = 3_600_000;
/** Minimum time between two mails to an address, so that it cannot be flooded. */
const MAIL_EVERY_MS = 600_000;
/** Maximum number of new addresses that are remembered in memory. Registrations are stored instead. */
const MAX_ADDRESSES = 10_000;
/** Maximum number of mails of one kind in flight. Further requests are refused until the mail server catches up. */
const MAX_MAILS = 100;
const BUSY_RETRY_S = 60;

type MailEnv = Pick<Env<"publicUrl">, "config" | "clock">;

export function tokenText(
  { publicUrl }: MailEnv["config"],
  token: string,
  mail: { readonly action: string; readonly use: string; readonly request: string; readonly otherwise: string },
): string {
  const at = publicUrl === null ? "" : ` at ${publicUrl}`;
  return [
    `Someone, probably you, ${mail.action}${at}.`,
    mail.use,
    `\n    ${token}\n`,
    `Or through the API: POST ${mail.request}.`,
    `If it was not you, ignore this mail: ${mail.otherwise}.`,
    "",
  ].join("\n");
}

function outbox(background: Background, failureMessage: string) {
  let inFlight = 0;
  return {
    /** Refuses a request whose mail could not be sent now. @throws {RateLimitedError} while too many are in flight. */
    assertFree(): void {
      if (inFlight >= MAX_MAILS) throw new RateLimitedError("login_attempts", BUSY_RETRY_S);
    },
    send(mail: Promise<void>): void {
      inFlight += 1;
      background.run(
        mail.finally(() => (inFlight -= 1)),
        failureMessage,
      );
    },
  };
}

/**
 * Manages registrations that are confirmed by mail. The password is sent with the mailed token, because an account must
 * not get the password of a stranger who registered another person's address.
 */
export function openSignUps({ config, clock }: MailEnv, store: AccountStore, send: SendMail, background: Background) {
  const mails = outbox(background, "Could not send a registration mail");

  async function mail(email: string): Promise<void> {
    const nowMs = clock.now();
    const token = newSecret("ep");
    const signUp = { tokenHash: hashSecret(token), email, expiresAtMs: nowMs + MAILED_TOKEN_MS };
    // A row is also stored for an address with an account, to limit its mails; the token of that row is never sent.
    const isNew = await store.createSignUp({ ...signUp, nowMs, keptIfAfterMs: signUp.expiresAtMs - MAIL_EVERY_MS });
    if (!isNew) return;
    const account = await store.getByEmail(email);
    const text = tokenText(config, token, {
      action: "registered this address",
      use: "To confirm that it is yours, use this token within an hour:",
      request: "/api/v1/auth/verify with the token and a password",
      otherwise: "no account was created",
    });
    const to = account?.email ?? email;
    try {
      await send({ to, subject: "Your registration", text: account === undefined ? text : REGISTERED });
    } catch (error) {
      // Without the row, the next registration of the address can be mailed at once.
      await store.deleteSignUp(signUp.tokenHash);
      throw error;
    }
  }

  return {
    /**
     * Mails a token to the address, or a notice if the address has an account. Returns before the look-up, so that
     * neither response nor timing reveals whether there is an account.
     * @throws {RateLimitedError} while too many mails are in flight.
     */
    request(email: string): void {
      mails.assertFree();
      mails.send(mail(email));
    },

    /** Returns the address that the token verifies. @throws {ServiceError} `bad_request` for an invalid token */
    async findEmail(token: string): Promise<string> {
      const email = secretKind(token) === "ep" ? await store.findSignUp(hashSecret(token), clock.now()) : undefined;
      if (email !== undefined) return email;
      throw new ServiceError("bad_request", "The token is unknown, used or expired. Register again");
    },

    /** Deletes the token after its account was created. */
    done: (token: string) => store.deleteSignUp(hashSecret(token)),
  };
}

const REGISTERED = `Someone, probably you, tried to register this address.
It has an account already: sign in with its password.
If it was not you, ignore this mail: nothing was changed.
`;

/**
 * Manages changes of e-mail addresses. The new address is verified first, and the old one is notified.
 * @param send null if this coordinator sends no mail; an address then changes at once.
 */
export function openEmailChanges(
  { config, clock }: MailEnv,
  store: AccountStore,
  send: SendMail | null,
  background: Background,
) {
  const mails = outbox(background, "Could not send mail about an address change");
  /** Time of the last token mail by address. */
  const mailedAtMs = recentMap<number>(MAX_ADDRESSES);

  async function mailToken(sendMail: SendMail, accountId: string, email: string): Promise<void> {
    const token = newSecret("ep");
    const holder = await store.getByEmail(email);
    const isTaken = holder !== undefined && holder.id !== accountId;
    const expiresAtMs = clock.now() + MAILED_TOKEN_MS;
    if (!isTaken) await store.createEmailChange({ accountId, tokenHash: hashSecret(token), email, expiresAtMs });
    const text = tokenText(config, token, {
      action: "requested this address for an account",
      use: "To confirm it, use this token within an hour:",
      request: "/api/v1/auth/email with the token",
      otherwise: "nothing was changed",
    });
    await sendMail({ to: email, subject: "Confirm your new address", text: isTaken ? TAKEN_TEXT : text });
  }

  return {
    /**
     * Without mail, changes the address and resolves with null. With mail, resolves with a function that mails the
     * token, even if another account has the address; it must be called last, because a password change deletes the
     * token.
     * @throws {ServiceError} `email_taken` without mail; {@link RateLimitedError}
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

    /** Sets the verified address. @throws {ServiceError} `bad_request` for an invalid token; `email_taken` */
    async confirm(token: string): Promise<void> {
      const change =
        secretKind(token) === "ep" ? await store.findEmailChange(hashSecret(token), clock.now()) : undefined;
      const before = change && (await store.get(change.accountId));
      if (change === undefined || before === undefined || !(await store.setEmail(change.accountId, change.email))) {
        const message = "The token is unknown, used or expired. Change the address again";
        throw new ServiceError("bad_request", message);
      }
      if (send === null) return;
      const text = `The address of your account is now ${change.email}.\nIf it was not you, tell the operator.\n`;
      mails.send(send({ to: before.email, subject: "Your address was changed", text }));
    },
  };
}

const TAKEN_TEXT = `Someone, probably you, requested this address for an account.
It has an account already. If it was not you, ignore this mail: nothing was changed.
`;
