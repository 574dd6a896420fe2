import { RateLimitedError, ServiceError } from "../../shared/errors.ts";

/** Retry-After of a refused stream. The end of another cannot be predicted, and one request a second costs little. */
export const RETRY_AFTER_S = 1;
/** Retry-After of a job above the limit. A chat takes seconds, so a client that retries automatically succeeds. */
const JOBS_RETRY_S = 5;

/** Refusals that all stores have in common. */
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
  too_many_keys: (maxKeys: number) =>
    new ServiceError(
      "too_many_keys",
      `An account has at most ${maxKeys} API keys; revoke one and try again after a minute`,
    ),
  too_many_codes: (maxCodes: number) =>
    new ServiceError(
      "too_many_codes",
      `An account has at most ${maxCodes} pairing codes at a time; use one, or wait until one expires`,
    ),
  too_many_tokens: (maxTokens: number) =>
    new ServiceError(
      "too_many_tokens",
      `An account has at most ${maxTokens} Island tokens; revoke one and try again after a minute`,
    ),
} as const;

function describeFull(maxJobs: number): string {
  if (maxJobs === 0) return "This account may not run jobs; its operator can raise its limit concurrent_jobs";
  const has = `You have ${maxJobs} unfinished ${maxJobs === 1 ? "job" : "jobs"}, the limit of this account`;
  return `${has}; wait for one or cancel one (GET /jobs?status=pending)`;
}
