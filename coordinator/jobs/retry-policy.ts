import { isInteractive } from "../../shared/cargo.ts";
import type { JobError } from "../../shared/errors.ts";
import type { ActiveJob } from "./active-job.ts";

/*
 * The retry policy of attempts. `maxAttempts` is the setting `max_attempts`; which failures end only the attempt is in
 * `dispatch/attempt-results.ts` (`retryable`), and which Island is asked next in `scheduler/`.
 */

/** After a lost attempt the job gets at least this long to find another Island, however long it waited for the first. */
export const MIN_TIME_TO_FIND_ISLAND_MS = 60_000;

/**
 * True if another attempt may follow the present one. Output that was delivered is never taken back, so a job with output
 * is tried again only if another Island can continue after it. An interactive run cannot be repeated at all: what it was sent is gone.
 */
export function mayRetry(
  job: Pick<ActiveJob, "attempt" | "refusals" | "feed" | "traits" | "cargo" | "startedAtMs">,
  maxAttempts: number,
): boolean {
  if (triesOf(job) >= maxAttempts) return false;
  if (isInteractive(job.cargo) && job.startedAtMs !== null) return false;
  return !job.feed.hasOutput || job.traits?.canContinue === true;
}

/** The error of a job whose last attempt ended with `error`: its client may try again. */
export function lastErrorOf(job: Pick<ActiveJob, "cargo" | "startedAtMs">, error: JobError): JobError {
  const isCut = isInteractive(job.cargo) && job.startedAtMs !== null;
  const message = isCut
    ? `${error.message}. An interactive job is not run again: its program had begun`
    : error.message;
  return { ...error, message, retryable: true };
}

/** Attempts that count: a refusal is none. */
export function triesOf({ attempt, refusals }: Pick<ActiveJob, "attempt" | "refusals">): number {
  return attempt - refusals;
}
