/** HTTP status of each error code. Source of the statuses: spec §7. The spec names only the code `rate_limited`. */
export const ERROR_STATUS = {
  invalid_json: 400,
  bad_request: 400,
  unauthenticated: 401,
  key_expired: 401,
  insufficient_credits: 402,
  key_credits_exceeded: 402,
  insufficient_scope: 403,
  cargo_not_allowed: 403,
  operator_only: 403,
  account_suspended: 403,
  not_found: 404,
  cargo_not_found: 404,
  /** `cargo_not_found` on the paths of OpenAI's and Anthropic's clients. */
  model_not_found: 404,
  content_removed: 410,
  payload_too_large: 413,
  file_budget_exceeded: 413,
  validation_failed: 422,
  email_taken: 422,
  slug_taken: 422,
  too_many_keys: 422,
  too_many_tokens: 422,
  too_many_codes: 422,
  too_many_cargos: 422,
  job_not_cancellable: 422,
  idempotency_conflict: 422,
  context_length_exceeded: 422,
  conversation_busy: 422,
  file_in_use: 422,
  position_lost: 422,
  rate_limited: 429,
  internal: 500,
  job_failed: 500,
  no_island_available: 503,
  overloaded: 503,
  shutting_down: 503,
  storage_unavailable: 503,
  disk_full: 507,
  cluster_unavailable: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

/**
 * Expected failure with a code that clients can act on. Any other error is unexpected: it is logged, and clients
 * receive 500 `internal`.
 */
export class ServiceError extends Error {
  override readonly name: string = "ServiceError";
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Invalid field. `path` is dotted ("messages.0.role"); it is empty for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Maximum number of invalid fields in one response. */
export const MAX_DETAILS = 100;

/** Error for invalid fields. `details` lists up to {@link MAX_DETAILS} fields, and the message names the first. */
export class ValidationError extends ServiceError {
  override readonly name = "ValidationError";
  readonly details: readonly FieldError[];
  constructor(details: readonly FieldError[]) {
    const first = details[0];
    super("validation_failed", first === undefined ? "The request is not valid" : describeField(first));
    this.details = details.slice(0, MAX_DETAILS);
  }
}

function describeField({ path, message }: FieldError): string {
  return path === "" ? message : `${path}: ${message}`;
}

/** Limits that a caller can exceed. Source: spec §8. */
export const LIMIT_NAMES = [
  "requests_per_minute",
  "concurrent_jobs",
  "concurrent_streams",
  "login_attempts",
  "pairing_attempts",
  "island_sessions",
  "daily_storage",
  "check_time",
] as const;
type LimitName = (typeof LIMIT_NAMES)[number];

/** Error for an exceeded limit. `retryAfterS`: whole seconds to wait before the next attempt, at least 1. */
export class RateLimitedError extends ServiceError {
  override readonly name = "RateLimitedError";
  readonly retryAfterS: number;
  readonly limit: LimitName;
  constructor(
    limit: LimitName,
    retryAfterS: number,
    message = `Rate limit exceeded (${limit}); retry in ${retryAfterS} s`,
  ) {
    super("rate_limited", message);
    this.limit = limit;
    this.retryAfterS = retryAfterS;
  }
}

/** Error for a request that needs an unreachable coordinator. `retryAfterS`: whole seconds until a retry. */
export class ClusterUnavailableError extends ServiceError {
  override readonly name = "ClusterUnavailableError";
  readonly retryAfterS = 2;
  constructor(options?: ErrorOptions) {
    super(
      "cluster_unavailable",
      "The coordinator that owns this job cannot be reached now. Try again in a moment",
      options,
    );
  }
}

/** Error for a lack of memory in this coordinator. `retryAfterS`: whole seconds until a retry. */
export class OverloadedError extends ServiceError {
  override readonly name = "OverloadedError";
  readonly retryAfterS = 5;
  constructor(message = "Too many large responses are being read. Try again in a few seconds") {
    super("overloaded", message);
  }
}

/**
 * Reasons why a job failed or timed out, as in its `error.code`. The runtime that reports a code also decides
 * `retryable`, which says whether the same job may succeed on another Island or later.
 */
export const JOB_ERROR_CODES = [
  "wait_timeout",
  "no_island_fits",
  "run_timeout",
  "island_lost",
  "island_refused",
  "island_silent",
  "cannot_resume",
  "cargo_unavailable",
  "invalid_input",
  "file_unavailable",
  "invalid_output",
  "context_length_exceeded",
  "model_unavailable",
  "model_hash_mismatch",
  "model_invalid",
  "disk_full",
  "manifest_untrusted",
  "out_of_memory",
  "output_too_large",
  "schema_unmet",
  "runtime_unavailable",
  "runtime_crashed",
  "cargo_failed",
  "shutting_down",
  "internal",
] as const;
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

/** Failure of a job as stored and shown. */
export interface JobError {
  readonly code: JobErrorCode;
  readonly message: string;
  readonly retryable: boolean;
}

/** Codes whose messages may quote the output of a program, a library or the input. These messages are never logged. */
export const MAY_QUOTE: ReadonlySet<JobErrorCode> = new Set([
  "cargo_failed",
  "invalid_input",
  "out_of_memory",
  "schema_unmet",
  "internal",
]);

/** Error in the agent about a job that it cannot run. It becomes a `failed` or `refused` frame. */
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

/** Error that the user of a command can fix. The command shows only the message: what happened and what to do. */
export class CliError extends Error {
  override readonly name: string = "CliError";
}

/** Returns the failure of a job whose Island is shutting down; another Island may run the job. */
export function shutdownFailure(): JobFailure {
  return new JobFailure("shutting_down", "The Island is shutting down", { retryable: true });
}
