import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { MAX_HELD_SLUGS, MAX_OWNED_CARGOS } from "./catalog-store.ts";

/** Retry-After of a refused job or stream. When one ends is unknown, and one request a second costs little. */
export const RETRY_AFTER_S = 1;

/** What every store says when it refuses a write. */
export const REFUSALS = {
  conversation_busy: () =>
    new ServiceError("conversation_busy", "Another message of this conversation is being answered"),
  email_taken: () => new ServiceError("email_taken", "There is an account with this e-mail address"),
  idempotency_conflict: () =>
    new ServiceError("idempotency_conflict", "The Idempotency-Key was used with another request; send a new key"),
  no_account: () => new ServiceError("not_found", "There is no such account"),
  no_answer: () => new ServiceError("not_found", "The answer is not in progress"),
  no_conversation: () => new ServiceError("not_found", "There is no such conversation"),
  no_job: () => new ServiceError("not_found", "There is no such job"),
  slug_taken: (slug: string) =>
    new ServiceError("slug_taken", `Another Cargo has or had the slug "${slug}"; choose another slug`),
  too_many_cargos: () =>
    new ServiceError("too_many_cargos", `An account may have ${MAX_OWNED_CARGOS} Cargos at a time; delete one first`),
  too_many_jobs: () => new RateLimitedError("concurrent_jobs", RETRY_AFTER_S),
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
  too_many_slugs: () =>
    new ServiceError(
      "too_many_cargos",
      `An account may use ${MAX_HELD_SLUGS} slugs in all, deleted ones included; use one of them again`,
    ),
} as const;
