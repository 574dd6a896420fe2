import { randomInt } from "node:crypto";
import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { RequestWindow, WINDOW_MS } from "../quotas/request-window.ts";
import type { AccountStore } from "../store/accounts/accounts.ts";
import type { IslandToken, TokenCap } from "../store/island-tokens.ts";
import { MAX_HOSTS } from "../store/islands.ts";
import { lastUses, type Background } from "./background.ts";
import { readName } from "./credential-fields.ts";
import { assertNotSuspended, type IslandIdentity } from "./identity.ts";
import { hashSecret, newSecret, secretKind } from "./secrets.ts";

/** Maximum number of tokens of an account, so that each of its Islands can have its own. */
const MAX_TOKENS = MAX_HOSTS;
const DEFAULT_NAME = "Island token";

/**
 * Characters of pairing codes. 0, 1, I and O are omitted because they are easily confused. There are 32^8 = 2^40 codes.
 *
 * Probability of guessing: each coordinator allows {@link MAX_ATTEMPTS_BY_PREFIX} attempts a minute for each prefix, so
 * 50 while a code is valid. With any number of addresses, an attacker finds a code with a probability of at most 50 /
 * 2^25, or 1 in 670,000. That takes all attempts of all 32^3 prefixes: 2,700 requests a second from 16,384 networks. The
 * same flood is needed to use up the attempts of an owner whose prefix is unknown. A found code gives an Island token,
 * whose Island earns for the account.
 */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
const LENGTH = 8;
const PATTERN = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

const PAIRING_MS = 600_000;
/** Maximum number of open codes of an account. */
const MAX_CODES = 5;
/** Maximum pairing attempts per minute of a network address, and for codes with the same prefix. */
export const MAX_ATTEMPTS_BY_ADDRESS = 10;
export const MAX_ATTEMPTS_BY_PREFIX = 5;
/** Characters of a prefix. All 32,768 prefixes fit into a RequestWindow, so a flood does not drop their counts. */
const PREFIX_LENGTH = 3;

interface NewIslandSecret {
  readonly token: IslandToken;
  readonly secret: string;
}

/** Issues Island tokens, and pairing codes that an Island exchanges for a token. Stores only hashes. */
export function openIslandTokens(store: AccountStore, clock: Clock, background: Background, onRevoked: () => void) {
  const recordUse = lastUses(clock, background, "an Island token", (id, atMs) => store.touchIslandToken(id, atMs));
  const addresses = new RequestWindow(clock);
  const prefixes = new RequestWindow(clock);

  const makeSecret = () => {
    const createdAtMs = clock.now();
    const secret = newSecret("it");
    return { id: newId("itk", createdAtMs), secret, tokenHash: hashSecret(secret), createdAtMs };
  };

  /** Returns the identity like `authenticate`, without recording a use. */
  async function find(token: string): Promise<IslandIdentity | undefined> {
    if (secretKind(token) !== "it") return undefined;
    const found = await store.findIslandToken(hashSecret(token));
    if (found === undefined || !(await assertNotSuspended(store, found.accountId))) return undefined;
    return { accountId: found.accountId, tokenId: found.id, tokenCreatedAtMs: found.createdAtMs };
  }

  /** @throws {RateLimitedError} */
  function countAttempt(attempts: RequestWindow, caller: string, limit: number): void {
    const { isAllowed, freesInMs } = attempts.count(caller, limit);
    if (!isAllowed) throw new RateLimitedError("pairing_attempts", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }

  return {
    find,

    /** Creates a token. @throws {ServiceError} `too_many_tokens`; {@link ValidationError} */
    async create(accountId: string, name?: string): Promise<NewIslandSecret> {
      const { id, secret, tokenHash, createdAtMs } = makeSecret();
      const token = { id, accountId, name: readName(name, DEFAULT_NAME), createdAtMs };
      await store.createIslandToken({ ...token, tokenHash }, capAt(createdAtMs));
      return { token: { ...token, lastUsedAtMs: null }, secret };
    },

    /** Returns the active tokens of an account, newest first. */
    list: (accountId: string) => store.listIslandTokens(accountId),

    /** Revokes a token. Returns false if the account has no such active token. */
    async revoke(accountId: string, tokenId: string): Promise<boolean> {
      const wasRevoked = await store.revokeIslandToken(accountId, tokenId, clock.now());
      onRevoked();
      return wasRevoked;
    },

    /**
     * Returns the account and token for a token's secret, and records the use; undefined if it is invalid or revoked.
     * @throws {ServiceError} `account_suspended`
     */
    async authenticate(token: string): Promise<IslandIdentity | undefined> {
      const found = await find(token);
      if (found !== undefined) recordUse(found.tokenId);
      return found;
    },

    /** Creates a code, valid for ten minutes. @throws {ServiceError} `too_many_codes`; {@link ValidationError} */
    async createCode(accountId: string, name?: string) {
      const nowMs = clock.now();
      const code = newPairingCode();
      const made = { name: readName(name, DEFAULT_NAME), expiresAtMs: nowMs + PAIRING_MS };
      const codeHash = hashSecret(readPairingCode(code) ?? "");
      await store.createPairingCode({ ...made, accountId, codeHash }, { nowMs, maxCodes: MAX_CODES });
      return { code, ...made };
    },

    /**
     * Exchanges a pairing code for a new token. `address`: network address of the client.
     * @throws {ServiceError} `not_found`; `too_many_tokens`; {@link RateLimitedError}
     */
    async redeem(typed: string, address: string): Promise<NewIslandSecret> {
      countAttempt(addresses, address, MAX_ATTEMPTS_BY_ADDRESS);
      const code = readPairingCode(typed);
      if (code !== undefined) countAttempt(prefixes, code.slice(0, PREFIX_LENGTH), MAX_ATTEMPTS_BY_PREFIX);
      const { id, secret, tokenHash, createdAtMs } = makeSecret();
      const made = { id, tokenHash, createdAtMs };
      const redeemed =
        code && (await store.redeemPairingCode({ ...made, codeHash: hashSecret(code) }, capAt(createdAtMs)));
      if (redeemed) return { token: { id, ...redeemed, createdAtMs, lastUsedAtMs: null }, secret };
      throw new ServiceError(
        "not_found",
        "The pairing code is wrong, used or older than ten minutes. Create a new one",
      );
    },
  };
}

/**
 * Returns the limit of tokens. A revoked token counts for another minute; otherwise creating and revoking in turn would
 * bypass the limit.
 */
function capAt(nowMs: number): TokenCap {
  return { maxTokens: MAX_TOKENS, revokedAfterMs: nowMs - WINDOW_MS };
}

/** Returns a new code in the form that is displayed: ABCD-EFGH. */
function newPairingCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${characters.slice(0, LENGTH / 2)}-${characters.slice(LENGTH / 2)}`;
}

/** Normalizes a typed code to eight characters; returns undefined if it cannot be a code. */
function readPairingCode(typed: string): string | undefined {
  const code = typed.replaceAll(/[\s-]/g, "").toUpperCase();
  return PATTERN.test(code) ? code : undefined;
}
