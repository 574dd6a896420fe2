/** An attempt failed, and the next one may succeed. `retryAfterMs`: the wait that the server asked for. */
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

/**
 * The wait before the next attempt: exponential, less a random part of up to a half, and at least what the server asked for.
 * @param failures failed attempts in a row, at least 1.
 */
export function backoffMs(
  failures: number,
  retryAfterMs: number | null,
  policy: { backoffMs: number; maxBackoffMs: number; maxRetryAfterMs: number; random: () => number },
): number {
  const full = Math.min(policy.backoffMs * 2 ** (failures - 1), policy.maxBackoffMs);
  const jittered = full * (1 - policy.random() / 2);
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, policy.maxRetryAfterMs));
}
