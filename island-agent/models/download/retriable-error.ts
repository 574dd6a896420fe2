import { backoffMs } from "../../../shared/async/backoff.ts";
import type { FetchPolicy } from "./fetch-policy.ts";

/** Thrown when an attempt failed and the next one may succeed. `retryAfterMs`: the wait that the server requested. */
export class RetriableError extends Error {
  override readonly name = "RetriableError";
  readonly retryAfterMs: number | null;
  constructor(message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Reads Retry-After: seconds or an HTTP date. Null when absent or invalid. Source: RFC 9110 §10.2.3. */
export function parseRetryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

/** Returns the wait before the next attempt: {@link backoffMs}, and at least the wait that the server requested. */
export function retryDelayMs(failures: number, error: RetriableError, policy: FetchPolicy): number {
  const { backoffMs: firstMs, maxBackoffMs: maxMs, maxRetryAfterMs, random } = policy;
  const askedMs = Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs);
  return Math.max(backoffMs(failures, { firstMs, maxMs, random }), askedMs);
}
