import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

/** How long a mailed token is valid. */
const TOKEN_MS = 3_600_000;
/** An address gets no second mail within this time: nobody can fill its mailbox. */
const MAIL_EVERY_MS = 600_000;
/** Addresses remembered for that. */
const MAX_ADDRESSES = 10_000;
/** Mails under way; more are refused until the mail server keeps up. */
const MAX_MAILS = 100;
const BUSY_RETRY_S = 60;

export interface EmailChangesDeps {
  readonly store: Pick<AccountStore, "get" | "getByEmail" | "setEmail" | "createEmailChange" | "findEmailChange">;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly log: Pick<Logger, "error">;
  /** Null: this coordinator sends no mail, and an address changes at once. */
  readonly mailer: Mailer | null;
  /** Where the API is, for the mail's text. */
  readonly publicUrl: string | null;
}

/** Changes of an account's address. Where mail is set up, the new address is proved first, and the old one is told. */
export class EmailChanges {
  readonly #deps: EmailChangesDeps;
  readonly #mails = new Set<Promise<void>>();
  /** When an address was last sent a token. */
  readonly #mailedAtMs = recentMap<number>(MAX_ADDRESSES);

  constructor(deps: EmailChangesDeps) {
    this.#deps = deps;
  }

  /**
   * Changes the address, and resolves with null; or resolves with what mails the new one a token that does, whether or not another
   * account has the address. The caller calls it last: a new password voids tokens that were mailed before.
   * @throws {ServiceError} `email_taken` where no mail is sent; {@link RateLimitedError}.
   */
  async request(accountId: string, email: string): Promise<(() => void) | null> {
    const { store, mailer, clock } = this.#deps;
    if (mailer === null) {
      if (!(await store.setEmail(accountId, email))) throw noAccount();
      return null;
    }
    const [nowMs, address] = [clock.monotonicMs(), email.toLowerCase()];
    const waitMs = (this.#mailedAtMs.get(address) ?? -Infinity) + MAIL_EVERY_MS - nowMs;
    if (waitMs > 0) throw new RateLimitedError("login_attempts", Math.ceil(waitMs / 1_000));
    if (this.#mails.size >= MAX_MAILS) throw new RateLimitedError("login_attempts", BUSY_RETRY_S);
    this.#mailedAtMs.set(address, nowMs);
    return () => this.#send(() => this.#mailToken(mailer, accountId, email));
  }

  /**
   * Sets the address that the mailed token proves.
   * @throws {ServiceError} `bad_request` for a token that is unknown, used or expired; `email_taken`.
   */
  async confirm(token: string): Promise<void> {
    const { store, clock, mailer } = this.#deps;
    const change = secretKind(token) === "ep" ? await store.findEmailChange(hashSecret(token), clock.now()) : undefined;
    const before = change && (await store.get(change.accountId));
    if (change === undefined || before === undefined || !(await store.setEmail(change.accountId, change.email))) {
      throw new ServiceError(
        "bad_request",
        "The token is not valid: unknown, used or expired; change the address again",
      );
    }
    if (mailer === null) return;
    const text = `The address of your account is now ${change.email}.\nIf it was not you, tell the operator.\n`;
    this.#send(() => mailer.send({ to: before.email, subject: "Your address was changed", text }));
  }

  /** Resolves when no mail is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#mails);
  }

  #send(send: () => Promise<void>): void {
    const mailed = send()
      .catch((error: unknown) => this.#deps.log.error({ err: error }, "Could not mail about a changed address"))
      .finally(() => this.#mails.delete(mailed));
    this.#mails.add(mailed);
  }

  async #mailToken(mailer: Mailer, accountId: string, email: string): Promise<void> {
    const { store, clock, publicUrl } = this.#deps;
    const token = newSecret("ep");
    const holder = await store.getByEmail(email);
    const isTaken = holder !== undefined && holder.id !== accountId;
    const expiresAtMs = clock.now() + TOKEN_MS;
    if (!isTaken) {
      await store.createEmailChange({ accountId, tokenHash: hashSecret(token), email, expiresAtMs });
    }
    const at = publicUrl === null ? "" : ` at ${publicUrl}`;
    const lines = [
      `Somebody, probably you, wants this address for an account${at}.`,
      "To confirm it, use this token within an hour:",
      `\n    ${token}\n`,
      "With the API: POST /api/v1/auth/email with the token.",
      "If it was not you, ignore this mail: nothing is changed without the token.",
      "",
    ];
    await mailer.send({ to: email, subject: "Your new address", text: isTaken ? TAKEN : lines.join("\n") });
  }
}

const TAKEN = `Somebody, probably you, wants this address for an account.
It has an account already. If it was not you, ignore this mail: nothing was changed.
`;

function noAccount(): ServiceError {
  return new ServiceError("not_found", "The account was deleted");
}
