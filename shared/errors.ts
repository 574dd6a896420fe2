/** Wire code to HTTP status. Statuses: spec §7 and DESIGN §4. Only `rate_limited` is a code of the spec. */
export const ERROR_STATUS = {
  invalid_json: 400,
  bad_request: 400,
  unauthenticated: 401,
  insufficient_credits: 402,
  insufficient_scope: 403,
  not_found: 404,
  cargo_not_found: 404,
  payload_too_large: 413,
  validation_failed: 422,
  email_taken: 422,
  slug_taken: 422,
  too_many_keys: 422,
  too_many_cargos: 422,
  job_not_cancellable: 422,
  idempotency_conflict: 422,
  context_length_exceeded: 422,
  conversation_busy: 422,
  position_lost: 422,
  rate_limited: 429,
  internal: 500,
  job_failed: 500,
  no_island_available: 503,
  shutting_down: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/** An expected failure with a code that clients can act on. Any other error that reaches a client is a bug. */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** One invalid field. `path` is dotted ("messages.0.role"); empty means the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Most fields that one error lists. */
export const MAX_DETAILS = 100;

/** A request with invalid fields. Lists all of them, up to {@link MAX_DETAILS}. */
export class ValidationError extends ServiceError {
  override readonly name = "ValidationError";
  readonly details: readonly FieldError[];
  constructor(details: readonly FieldError[]) {
    const first = details[0];
    super("validation_failed", first === undefined ? "Validation failed" : describeField(first));
    this.details = details.slice(0, MAX_DETAILS);
  }
}

function describeField({ path, message }: FieldError): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** Names of the limits that a client can exceed. Source: spec §8. */
export const LIMIT_NAMES = ["requests_per_minute", "concurrent_jobs", "concurrent_streams", "login_attempts"] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** A rate limit was exceeded. `retryAfterS`: whole seconds until a retry can succeed, at least 1. */
export class RateLimitedError extends ServiceError {
  override readonly name = "RateLimitedError";
  readonly retryAfterS: number;
  readonly limit: LimitName;
  constructor(limit: LimitName, retryAfterS: number) {
    super("rate_limited", `Rate limit exceeded (${limit}); retry in ${retryAfterS} s`);
    this.limit = limit;
    this.retryAfterS = retryAfterS;
  }
}

/**
 * Why a job failed or timed out: the job's `error.code`. The field `retryable` beside it says whether the same job may succeed
 * later or on another Island. The runtime sets it for each failure; it does not follow from the code.
 */
export const JOB_ERROR_CODES = [
  "wait_timeout",
  "run_timeout",
  "island_lost",
  "island_refused",
  "cannot_resume",
  "cargo_unavailable",
  "invalid_input",
  "context_length_exceeded",
  "model_unavailable",
  "model_hash_mismatch",
  "model_invalid",
  "manifest_untrusted",
  "out_of_memory",
  "output_too_large",
  "runtime_unavailable",
  "runtime_crashed",
  "cargo_failed",
  "shutting_down",
  "internal",
] as const;
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

/** A job's failure as it is stored and shown. */
export interface JobError {
  readonly code: JobErrorCode;
  readonly message: string;
  readonly retryable: boolean;
}

/** Thrown on the Island for a job that cannot run; becomes a `failed` or `refused` frame. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  readonly code: JobErrorCode;
  readonly retryable: boolean;
  constructor(code: JobErrorCode, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** Something that the user of a command can put right. The command shows only the message: what happened and what to do. */
export class CliError extends Error {
  override readonly name: string = "CliError";
}

/** The Island is about to stop; another one may run the job. */
export function shutdownFailure(): JobFailure {
  return new JobFailure("shutting_down", "The Island is shutting down", { retryable: true });
}
