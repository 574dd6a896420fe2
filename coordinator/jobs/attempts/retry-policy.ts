import type { ActiveJob } from "../active-job.ts";

/**
 * Minimum wait limit after a lost attempt, in ms: a job that waited long for its first Island can still find another.
 */
export const MIN_TIME_TO_FIND_ISLAND_MS = 60_000;

/**
 * Returns true if another attempt may follow. Delivered output is never withdrawn, so a new attempt must be able to
 * continue after it. Whether a failure ends only the attempt is decided by `retryable` in the Island's frame, which
 * `dispatch/attempt-fencing.ts` reads.
 */
export function mayRetry(
  job: Pick<ActiveJob, "attempt" | "refusals" | "feed" | "traits">,
  maxAttempts: number,
): boolean {
  if (attemptsOf(job) >= maxAttempts) return false;
  return !job.feed.hasOutput || job.traits?.canContinue === true;
}

/** Returns the number of attempts that count against the maximum: all except refused ones. */
export function attemptsOf({ attempt, refusals }: Pick<ActiveJob, "attempt" | "refusals">): number {
  return attempt - refusals;
}
