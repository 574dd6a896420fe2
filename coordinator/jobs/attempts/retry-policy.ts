import type { ActiveJob } from "../active-job.ts";

/*
 * The retry policy of attempts. `maxAttempts` is the setting `max_attempts`; which failures end only the attempt is in
 * `dispatch/attempt-fencing.ts` (`retryable`), and which Island is asked next in `scheduler/`.
 */

/** After a lost attempt the job gets at least this long to find another Island, however long it waited for the first. */
export const MIN_TIME_TO_FIND_ISLAND_MS = 60_000;

/**
 * True if another attempt may follow the present one. Output that was delivered is never taken back, so a job with output
 * is tried again only if another Island can continue after it.
 */
export function mayRetry(
  job: Pick<ActiveJob, "attempt" | "refusals" | "feed" | "traits">,
  maxAttempts: number,
): boolean {
  if (attemptsOf(job) >= maxAttempts) return false;
  return !job.feed.hasOutput || job.traits?.canContinue === true;
}

/** Attempts that count: a refusal is none. */
export function attemptsOf({ attempt, refusals }: Pick<ActiveJob, "attempt" | "refusals">): number {
  return attempt - refusals;
}
