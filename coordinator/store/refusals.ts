import { RateLimitedError, ServiceError } from "../../shared/errors.ts";

/**
 * Retry-After of a refused stream. It is short, because the end of another stream is unpredictable and a request per
 * second costs little.
 */
export const RETRY_AFTER_S = 1;
/** Retry-After of a job over the limit. A chat takes seconds, so a client that retries automatically succeeds. */
const JOBS_RETRY_S = 5;

/** Errors of refused writes that all engines have in common. */
export const REFUSALS = {
  conversation_busy: () =>
    new ServiceError("conversation_busy", "Another message of this conversation is being answered"),
  email_taken: () => new ServiceError("email_taken", "An account with this e-mail address already exists"),
  idempotency_conflict: () =>
    new ServiceError("idempotency_conflict", "The Idempotency-Key was used with another request; send a new key"),
  no_account: () => new ServiceError("not_found", "There is no such account"),
  no_answer: () => new ServiceError("not_found", "The answer is not in progress"),
  no_conversation: () => new ServiceError("not_found", "There is no such conversation"),
  no_job: () => new ServiceError("not_found", "There is no such job"),
  too_many_jobs: (maxJobs: number) => new RateLimitedError("concurrent_jobs", JOBS_RETRY_S, describeFull(maxJobs)),
  too_many_keys: (max: number) =>
    new ServiceError(
      "too_many_keys",
      `An account has at most ${max} API keys; revoke one and try again after a minute`,
    ),
  too_many_codes: (max: number) =>
    new ServiceError(
      "too_many_codes",
      `An account has at most ${max} pairing codes at a time; use one, or wait until one expires`,
    ),
  too_many_tokens: (max: number) =>
    new ServiceError(
      "too_many_tokens",
      `An account has at most ${max} Island tokens; revoke one and try again after a minute`,
    ),
} as const;

function describeFull(maxJobs: number): string {
  if (maxJobs === 0) return "This account may not run jobs; its operator can raise its limit concurrent_jobs";
  const has = `You have ${maxJobs} unfinished ${maxJobs === 1 ? "job" : "jobs"}, the limit of this account`;
  return `${has}; wait for one or cancel one (GET /jobs?status=pending)`;
}
