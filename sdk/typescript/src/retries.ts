import { AtollError, ConnectionError, RateLimitError, ServiceUnavailableError } from "./errors.ts";
import { sleep } from "./timing.ts";

export interface Backoff {
  /** Pause before the second attempt. */
  readonly firstMs: number;
  /** Longest pause. */
  readonly mostMs: number;
}

export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoff: Backoff;
  /** Whether a repeat has no further effect, so that the call can be retried when its outcome is unknown. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Longest Retry-After that the client waits for. If it is longer, the call throws. */
const MAX_RETRY_AFTER_S = 60;
/** Largest jitter added to a Retry-After. */
const MAX_JITTER_MS = 250;
/** Statuses of a proxy that got no response from the coordinator, so the outcome is unknown. */
const GATEWAY_STATUSES = new Set([502, 504]);

/** Codes of a 503 without any effect: the coordinator is shutting down, or a proxy cannot reach it. */
const NO_EFFECT_CODES = new Set(["shutting_down", "http_503"]);

/** Counts the attempts of one call and pauses between them. */
export class Retries {
  readonly #policy: RetryPolicy;
  #failures = 0;
  #isAnswerLost = false;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /** Resets the count of failures after progress. */
  reset(): void {
    this.#failures = 0;
  }

  /**
   * Resolves when it is time for the next attempt.
   * @throws `error` if no further attempt is made, or the signal's reason if it aborts.
   */
  async pause(error: unknown): Promise<void> {
    const { maxRetries, backoff, signal } = this.#policy;
    if (error instanceof AtollError) error.isRepeat = this.#isAnswerLost;
    if (!this.#isWorthRepeating(error)) throw error;
    this.#failures += 1;
    if (this.#failures > maxRetries) throw error;
    if (isAnswerLost(error)) this.#isAnswerLost = true;
    const retryAfterS = error instanceof AtollError ? error.retryAfterS : null;
    await sleep(retryDelayMs(this.#failures, retryAfterS, backoff, Math.random()), signal);
  }

  #isWorthRepeating(error: unknown): boolean {
    if (error instanceof AtollError && (error.retryAfterS ?? 0) > MAX_RETRY_AFTER_S) return false;
    if (isRefusedWithoutEffect(error)) return true;
    return this.#policy.isIdempotent && (error instanceof ServiceUnavailableError || isAnswerLost(error));
  }
}

/**
 * Returns whether the request was rejected without any effect, so that even a non-idempotent call can be sent again.
 * `no_island_available` does not qualify: the chat's job existed and has ended, and a conversation has stored the question.
 */
function isRefusedWithoutEffect(error: unknown): boolean {
  if (error instanceof RateLimitError) return true;
  return error instanceof ServiceUnavailableError && NO_EFFECT_CODES.has(error.code);
}

function isAnswerLost(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof AtollError && GATEWAY_STATUSES.has(error.status ?? 0);
}

/**
 * Returns the pause after the `failures`th failure in a row. With a Retry-After the pause is at least that long.
 * Otherwise it is between half and all of a pause that doubles each time. The jitter prevents clients that failed at
 * the same time from retrying at the same time.
 * @param random 0 to 1.
 */
export function retryDelayMs(failures: number, retryAfterS: number | null, backoff: Backoff, random: number): number {
  if (retryAfterS !== null) return retryAfterS * 1_000 + random * MAX_JITTER_MS;
  const full = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (failures - 1));
  return full * (0.5 + random / 2);
}
