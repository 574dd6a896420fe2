import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import type { Logger } from "../../shared/logger.ts";
import { RequestWindow, WINDOW_MS } from "../quotas/request-window.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { IslandToken, TokenCap } from "../store/island-tokens.ts";
import { MAX_HOSTS } from "../store/islands.ts";
import { readName } from "./credential-fields.ts";
import type { IslandIdentity } from "./identity.ts";
import { KeyUsage } from "./key-usage.ts";
import {
  MAX_CODES,
  MAX_TRIES,
  MAX_TRIES_BY_ADDRESS,
  newPairingCode,
  PAIRING_MS,
  readPairingCode,
} from "./pairing-codes.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";
import { assertNotSuspended } from "./suspended.ts";

/** Per account: each of its Islands may have its own. */
const MAX_TOKENS = MAX_HOSTS;
const ALL = "all";
const DEFAULT_NAME = "Island token";

export interface NewIslandSecret {
  readonly token: IslandToken;
  /** Returned this once. */
  readonly secret: string;
}

/** Tokens with which Islands join, and the pairing codes that are exchanged for one. Stores only hashes. */
export class IslandTokens {
  readonly #store: AccountStore;
  readonly #clock: Clock;
  readonly #usage: KeyUsage;
  /** Pairing codes tried, by address and in all. */
  readonly #tries: RequestWindow;

  constructor(store: AccountStore, clock: Clock, log: Pick<Logger, "error">) {
    this.#store = store;
    this.#clock = clock;
    this.#tries = new RequestWindow(clock);
    this.#usage = new KeyUsage(
      clock,
      (tokenId, atMs) => store.touchIslandToken(tokenId, atMs),
      (error) => log.error({ err: error }, "Could not store when an Island token was last used"),
    );
  }

  /** @throws {ServiceError} `too_many_tokens`; {@link ValidationError} */
  async create(accountId: string, name?: string): Promise<NewIslandSecret> {
    const { id, secret, tokenHash, createdAtMs } = this.#newSecret();
    const token = { id, accountId, name: readName(name, DEFAULT_NAME), createdAtMs };
    await this.#store.createIslandToken({ ...token, tokenHash }, capAt(createdAtMs));
    return { token: { ...token, lastUsedAtMs: null }, secret };
  }

  /** The owner of a token, with which an Island begins a session; undefined if it is invalid or revoked. @throws {ServiceError} `account_suspended` */
  async authenticate(token: string): Promise<IslandIdentity | undefined> {
    const found = await this.find(token);
    if (found !== undefined) this.#usage.record(found.tokenId);
    return found;
  }

  /** Like {@link authenticate}, without a note that it was used. */
  async find(token: string): Promise<IslandIdentity | undefined> {
    if (secretKind(token) !== "it") return undefined;
    const found = await this.#store.findIslandToken(hashSecret(token));
    if (found === undefined) return undefined;
    if (!(await assertNotSuspended(this.#store, found.accountId))) return undefined;
    return { accountId: found.accountId, tokenId: found.id, tokenCreatedAtMs: found.createdAtMs };
  }

  /** Makes a code that is exchanged for a token within ten minutes. @throws {ServiceError} `too_many_codes`; {@link ValidationError} */
  async createCode(accountId: string, name?: string): Promise<{ code: string; name: string; expiresAtMs: number }> {
    const nowMs = this.#clock.now();
    const code = newPairingCode();
    const made = { name: readName(name, DEFAULT_NAME), expiresAtMs: nowMs + PAIRING_MS };
    const codeHash = hashSecret(readPairingCode(code) ?? "");
    await this.#store.createPairingCode({ ...made, accountId, codeHash }, { nowMs, maxCodes: MAX_CODES });
    return { code, ...made };
  }

  /**
   * Exchanges a code for a token. `address`: network address of the client.
   * @throws {ServiceError} `not_found` for a code that is wrong, used or expired; `too_many_tokens`; {@link RateLimitedError}
   */
  async redeem(typed: string, address: string): Promise<NewIslandSecret> {
    for (const [caller, limit] of [[address, MAX_TRIES_BY_ADDRESS] as const, [ALL, MAX_TRIES] as const]) {
      const { isAllowed, freesInMs } = this.#tries.count(caller, limit);
      if (!isAllowed) throw new RateLimitedError("pairing_attempts", Math.max(1, Math.ceil(freesInMs / 1_000)));
    }
    const code = readPairingCode(typed);
    const { id, secret, tokenHash, createdAtMs } = this.#newSecret();
    const redeemed =
      code === undefined
        ? undefined
        : await this.#store.redeemPairingCode(
            { id, tokenHash, createdAtMs, codeHash: hashSecret(code) },
            capAt(createdAtMs),
          );
    if (redeemed === undefined) {
      throw new ServiceError("not_found", "The pairing code is wrong, used or older than ten minutes; make a new one");
    }
    return { token: { id, ...redeemed, createdAtMs, lastUsedAtMs: null }, secret };
  }

  /** Resolves when background writes are done. */
  settled(): Promise<void> {
    return this.#usage.settled();
  }

  #newSecret() {
    const createdAtMs = this.#clock.now();
    const secret = newSecret("it");
    return { id: newId("itk", createdAtMs), secret, tokenHash: hashSecret(secret), createdAtMs };
  }
}

/** A token that was revoked counts for a minute more, so that an account cannot make any number of them. */
function capAt(nowMs: number): TokenCap {
  return { maxTokens: MAX_TOKENS, revokedAfterMs: nowMs - WINDOW_MS };
}
