import type { LRUCache } from "lru-cache";
import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import { hashSecret } from "../accounts/secrets.ts";
import { RequestWindow } from "../quotas/request-window.ts";

/** Refused tokens of one address in a minute. An Island whose token is refused does not try again by itself. */
const MAX_REFUSED = 30;
/** Accepted tokens that are remembered; beyond it the one accepted longest ago is forgotten. */
const MAX_TOKENS = 10_000;

/**
 * Limits how often an address may try Island tokens that are refused. A token that was accepted before always passes, so that an
 * Island that comes back is not kept out by others behind its address. Whether it is still valid is checked later. Separate
 * from the limits of the API, so that a flood there keeps no Island out.
 */
export class JoinLimit {
  readonly #refused: RequestWindow;
  /** Hashes of tokens. */
  readonly #accepted: LRUCache<string, true>;

  constructor(clock: Clock, maxTokens: number = MAX_TOKENS) {
    this.#refused = new RequestWindow(clock);
    this.#accepted = recentMap(maxTokens);
  }

  /** Call it before the token is looked up. `token` undefined: the request has none. @throws {RateLimitedError} */
  assertMayTry(address: string, token: string | undefined): void {
    const { isAllowed, freesInMs } = this.#refused.look(address, MAX_REFUSED);
    if (isAllowed || (token !== undefined && this.#accepted.has(hashSecret(token)))) return;
    throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }

  accepted(token: string): void {
    this.#accepted.set(hashSecret(token), true);
  }

  refused(address: string, token: string): void {
    this.#refused.count(address, MAX_REFUSED);
    this.#accepted.delete(hashSecret(token));
  }
}
