import type { Clock } from "../../shared/clock.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { hashSecret } from "../accounts/secrets.ts";
import { RequestWindow } from "../quotas/request-window.ts";

/** Of one address in a minute. An Island whose token is refused does not try again by itself. */
const MAX_REFUSED = 30;
/** Most tokens remembered; the one that was accepted longest ago gives way. */
const MAX_TOKENS = 10_000;

/**
 * Bounds how often an address may come with tokens that are refused. Only those count, and a token that was accepted before is let
 * through, so that an Island which comes back is not kept out by what others behind its address do. Whether the token still
 * holds is not decided here. Apart from the limits of the API: a flood there keeps no Island out.
 */
export class JoinLimit {
  readonly #refused: RequestWindow;
  /** Hashes of tokens, in the order of their last acceptance. */
  readonly #accepted = new Set<string>();
  readonly #maxTokens: number;

  constructor(clock: Clock, maxTokens: number = MAX_TOKENS) {
    this.#refused = new RequestWindow(clock);
    this.#maxTokens = maxTokens;
  }

  /** Called before a token is looked up; undefined: none was sent. @throws {RateLimitedError} */
  assertMayTry(address: string, token: string | undefined): void {
    const { isAllowed, freesInMs } = this.#refused.look(address, MAX_REFUSED);
    if (isAllowed || (token !== undefined && this.#accepted.has(hashSecret(token)))) return;
    throw new RateLimitedError("requests_per_minute", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }

  accepted(token: string): void {
    const hash = hashSecret(token);
    this.#accepted.delete(hash);
    this.#accepted.add(hash);
    if (this.#accepted.size <= this.#maxTokens) return;
    const [oldest] = this.#accepted;
    if (oldest !== undefined) this.#accepted.delete(oldest);
  }

  refused(address: string, token: string): void {
    this.#refused.count(address, MAX_REFUSED);
    this.#accepted.delete(hashSecret(token));
  }
}
