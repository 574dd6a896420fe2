import { AtollError, ConnectionError, RateLimitError, ServiceUnavailableError } from "./errors.ts";
import { sleep } from "./timing.ts";

export interface Backoff {
  /** Pause before the second try. */
  readonly firstMs: number;
  /** Longest pause. */
  readonly mostMs: number;
}

export interface RetryPolicy {
  readonly maxRetries: number;
  readonly backoff: Backoff;
  /** Doing it twice is the same as doing it once, so that it may be repeated when it is not known whether it was done. */
  readonly isIdempotent: boolean;
  readonly signal: AbortSignal | undefined;
}

/** A coordinator that asks for more patience than this is not waited for: the caller decides. */
export const LONGEST_RETRY_AFTER_S = 60;
/** Most that jitter adds to a pause that the coordinator named. */
const MOST_JITTER_MS = 250;
/** A proxy got no answer from the coordinator, which may or may not have acted. */
const GATEWAY_STATUSES = new Set([502, 504]);

/** Of 503: the coordinator is going down, or is not reached at all by the proxy that answers in its place. */
const UNDONE_CODES = new Set(["shutting_down", "http_503"]);

/** Counts the tries of one call and pauses between them. */
export class Retries {
  readonly #policy: RetryPolicy;
  #failures = 0;
  #isAnswerLost = false;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /** There was progress: what fails next is counted from the start. */
  reset(): void {
    this.#failures = 0;
  }

  /** Resolves when it is time for another try. @throws `error` when there is none, or the signal's reason. */
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
    if (error instanceof AtollError && (error.retryAfterS ?? 0) > LONGEST_RETRY_AFTER_S) return false;
    if (isRefusedUndone(error)) return true;
    return this.#policy.isIdempotent && (error instanceof ServiceUnavailableError || isAnswerLost(error));
  }
}

/**
 * Refused before anything was done, so that even what is not idempotent may be sent again. A chat that found no Island
 * (`no_island_available`) is not: its job was made and has ended, and in a conversation the question is stored.
 */
function isRefusedUndone(error: unknown): boolean {
  if (error instanceof RateLimitError) return true;
  return error instanceof ServiceUnavailableError && UNDONE_CODES.has(error.code);
}

function isAnswerLost(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof AtollError && GATEWAY_STATUSES.has(error.status ?? 0);
}

/**
 * Pause after the `failures`th failure in a row. Never shorter than the coordinator asks for; otherwise between half and all
 * of a pause that doubles, so that clients that failed together do not come back together.
 * @param random 0 to 1.
 */
export function retryDelayMs(failures: number, retryAfterS: number | null, backoff: Backoff, random: number): number {
  if (retryAfterS !== null) return retryAfterS * 1_000 + random * MOST_JITTER_MS;
  const full = Math.min(backoff.mostMs, backoff.firstMs * 2 ** (failures - 1));
  return full * (0.5 + random / 2);
}
