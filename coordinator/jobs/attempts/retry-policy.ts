import type { ActiveJob } from "../active-job.ts";

/** Minimum time to find another Island after a lost attempt, however long the job waited for the first. */
export const MIN_TIME_TO_FIND_ISLAND_MS = 60_000;

/**
 * Returns true if another attempt may follow. Delivered output is never withdrawn, so the attempt must be able to
 * continue after it. Whether a failure ends only the attempt: `retryable` in the Island's frame, which
 * `dispatch/attempt-fencing.ts` reads.
 */
export function mayRetry(
  job: Pick<ActiveJob, "attempt" | "refusals" | "feed" | "traits">,
  maxAttempts: number,
): boolean {
  if (attemptsOf(job) >= maxAttempts) return false;
  return !job.feed.hasOutput || job.traits?.canContinue === true;
}

export function attemptsOf({ attempt, refusals }: Pick<ActiveJob, "attempt" | "refusals">): number {
  return attempt - refusals;
}
