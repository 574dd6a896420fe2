import {
  ClusterUnavailableError,
  ERROR_STATUS,
  OverloadedError,
  RateLimitedError,
  ServiceError,
  ValidationError,
  type ErrorCode,
  type FieldError,
  type JobError,
  type JobErrorCode,
} from "../../shared/errors.ts";
import { InsufficientCreditsError, KeyCreditsError } from "../credits/credit-errors.ts";
import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import type { FeedEnding } from "../jobs/feed.ts";

/** `Retry-After` in seconds of a failed job for which no Island was free or had the model. */
const NO_ISLAND_RETRY_S = 5;
/** `Retry-After` in seconds by error code. A database failover takes seconds; another coordinator may serve a retry. */
const RETRY_S: Partial<Record<ErrorCode, number>> = { storage_unavailable: 2, shutting_down: 1 };
/** Job errors for a model or image that could not be fetched: 503, because coordinator and request are not at fault. */
const FETCH_ERRORS: ReadonlySet<string> = new Set<JobErrorCode>([
  "model_unavailable",
  "model_hash_mismatch",
  "disk_full",
]);
const CANCELLED_MESSAGE =
  "The job of this request was cancelled by its account (DELETE /jobs/{id}) or by an operator. Send the request again if you still need the response";
/** Message for an unexpected error. It does not quote the error, which may contain file names or secrets. */
const FAULT_MESSAGE = "Internal error. If it happens again, give the operator this request_id";

/** Error of a waiting client whose job no Island started in time or can run. `message` is the job's error. */
export class NoIslandError extends ServiceError {
  override readonly name = "NoIslandError";
  /** Seconds until a retry may succeed; null if a retry would fail too. */
  readonly retryAfterS: number | null;
  constructor({ message, retryable }: Pick<JobError, "message" | "retryable">) {
    super("no_island_available", message);
    this.retryAfterS = retryable ? NO_ISLAND_RETRY_S : null;
  }
}

export class JobFailedError extends ServiceError {
  override readonly name = "JobFailedError";
  readonly jobError: string;
  readonly retryable: boolean;
  /** HTTP status of the response, which may differ from the usual status of `job_failed`. */
  readonly status: number;
  readonly retryAfterS: number | null;
  /**
   * Whether clients should retry. Clients of OpenAI and Anthropic retry a 500 unless a header forbids it, and each
   * attempt of a chat may cost credits.
   */
  readonly isWorthRepeating: boolean;
  constructor({ code, message, retryable }: Extract<FeedEnding, { type: "error" }>) {
    super("job_failed", code === "cancelled" ? CANCELLED_MESSAGE : `The job failed (${code}): ${message}`);
    this.jobError = code;
    this.retryable = retryable;
    const isFetch = FETCH_ERRORS.has(code);
    this.status = isFetch ? 503 : code === "cancelled" ? 409 : ERROR_STATUS.job_failed;
    this.retryAfterS = isFetch && retryable ? NO_ISLAND_RETRY_S : null;
    // A completion that does not match its schema was charged; the client decides whether to pay for another.
    this.isWorthRepeating = retryable && code !== ("schema_unmet" satisfies JobErrorCode);
  }
}

export class MethodNotAllowedError extends ServiceError {
  override readonly name = "MethodNotAllowedError";
  readonly allowed: readonly string[];
  constructor(method: string, allowed: readonly string[]) {
    super("not_found", `Method ${method} is not allowed for this path. Use ${allowed.join(" or ")}`);
    this.allowed = allowed;
  }
}

/** Format of an error body: the libraries of each vendor read only that vendor's format. */
export type ErrorStyle = "plain" | "openai" | "anthropic";

/** Forbids a retry. Without this header, each client retries by its own statuses (Claude Code 401, LangChain 422). */
const FINAL = { "X-Should-Retry": "false" };
/** Statuses from 400 to 499 that a retry can fix: the request arrived too slowly, or there were too many. */
const WORTH_REPEATING: ReadonlySet<number> = new Set([408, 429]);

interface WireError {
  readonly message: string;
  readonly code: ErrorCode;
  /** The vendor's error type; only in the formats of OpenAI and Anthropic. */
  readonly type?: string;
  /** The field at fault; null if the error has no field. Only in OpenAI's format. */
  readonly param?: string | null;
  readonly details?: readonly FieldError[];
  readonly retry_after?: number;
  readonly limit?: string;
  readonly required_credits?: number;
  readonly balance_credits?: number;
  readonly remaining_credits?: number;
  readonly renews_at?: string;
  readonly job_error?: string;
  readonly retryable?: boolean;
  readonly request_id?: string;
}

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON body. Only Anthropic's format has `type` and `request_id`. */
  readonly body: { readonly error: WireError; readonly type?: "error"; readonly request_id?: string };
}

interface ErrorContext {
  readonly requestId: string;
  readonly style: ErrorStyle;
  /** Whether the path is a vendor's, where an invalid request is 400 and not the spec's 422. Default: false. */
  readonly isVendorBase?: boolean;
}

/** Returns the response to an error. For an unexpected error, the response contains only the request's id. */
export function errorResponse(
  thrown: unknown,
  { requestId, style, isVendorBase = false }: ErrorContext,
): ErrorResponse {
  if (!(thrown instanceof ServiceError)) {
    const error: WireError = { message: FAULT_MESSAGE, code: "internal", request_id: requestId };
    return { status: 500, headers: {}, body: inStyle(error, 500, style, requestId) };
  }
  const specStatus = statusOf(thrown);
  const status = isVendorBase && specStatus === 422 ? 400 : specStatus;
  const error: WireError = { message: thrown.message, code: thrown.code, ...extrasOf(thrown) };
  const headers = { ...finalHeaders(status), ...headersOf(thrown) };
  return { status, headers, body: inStyle(error, status, style, requestId) };
}

/** Returns the plain response to an error of the transport, which knows no request id and no vendor. */
export function transportErrorResponse(thrown: unknown): ErrorResponse {
  return errorResponse(thrown, { requestId: "", style: "plain" });
}

/** Returns the headers of a response with this status that tell clients whether a retry may succeed. */
export function finalHeaders(status: number): Readonly<Record<string, string>> {
  return status >= 400 && status < 500 && !WORTH_REPEATING.has(status) ? FINAL : {};
}

function statusOf(error: ServiceError): number {
  if (error instanceof MethodNotAllowedError) return 405;
  return error instanceof JobFailedError ? error.status : ERROR_STATUS[error.code];
}

function extrasOf(error: ServiceError): Partial<WireError> {
  const retryAfterS = retryAfterOf(error);
  const retry = retryAfterS === null ? {} : { retry_after: retryAfterS };
  if (error instanceof ValidationError) return { details: error.details };
  if (error instanceof RateLimitedError) return { ...retry, limit: error.limit };
  if (error instanceof InsufficientCreditsError) {
    const { requiredMicro, balanceMicro } = error;
    return { required_credits: creditsOf(requiredMicro), balance_credits: creditsOf(balanceMicro) };
  }
  if (error instanceof KeyCreditsError) {
    const { requiredMicro, leftMicro } = error;
    const renewsAt = new Date(error.renewsAtMs).toISOString();
    return { required_credits: creditsOf(requiredMicro), remaining_credits: creditsOf(leftMicro), renews_at: renewsAt };
  }
  if (error instanceof JobFailedError) return { job_error: error.jobError, retryable: error.retryable, ...retry };
  return error instanceof NoIslandError && retryAfterS === null ? { retryable: false } : retry;
}

/** Returns the nearest double in credits: a batch may cost more than a double can represent exactly. */
function creditsOf(micro: bigint | number): number {
  return Number(micro) / MICRO_PER_CREDIT;
}

function headersOf(error: ServiceError): Readonly<Record<string, string>> {
  const retryAfterS = retryAfterOf(error);
  if (retryAfterS !== null) return { "Retry-After": String(retryAfterS) };
  if (error instanceof NoIslandError || (error instanceof JobFailedError && !error.isWorthRepeating)) return FINAL;
  if (error instanceof MethodNotAllowedError) return { Allow: error.allowed.join(", ") };
  if (error.code === "unauthenticated" || error.code === "key_expired")
    return { "WWW-Authenticate": 'Bearer realm="atoll"' };
  return {};
}

/** Returns the value of `Retry-After` in seconds; null for an error without this header. */
function retryAfterOf(error: ServiceError): number | null {
  if (
    error instanceof RateLimitedError ||
    error instanceof OverloadedError ||
    error instanceof ClusterUnavailableError ||
    error instanceof NoIslandError ||
    error instanceof JobFailedError
  )
    return error.retryAfterS;
  return RETRY_S[error.code] ?? null;
}

function inStyle(error: WireError, status: number, style: ErrorStyle, requestId: string): ErrorResponse["body"] {
  if (style === "plain") return { error };
  const { message, ...extras } = error;
  const code = codeIn(style, error.code);
  if (style === "anthropic")
    return { type: "error", error: { type: anthropicType(status), message, ...extras, code }, request_id: requestId };
  const path = error.details?.[0]?.path ?? "";
  return { error: { message, type: openAiType(status), param: path === "" ? null : path, ...extras, code } };
}

export function codeIn(style: ErrorStyle, code: ErrorCode): ErrorCode {
  return style !== "plain" && code === "cargo_not_found" ? "model_not_found" : code;
}

/** Returns the HTTP status of a job's failure. An error event inside a stream derives its type from this status. */
export function failureStatus(code: string): number {
  return code === "context_length_exceeded" || code === "invalid_input" ? 400 : 500;
}

export function anthropicType(status: number): string {
  if (status === 503) return "overloaded_error";
  if (status >= 500) return "api_error";
  if (status === 401) return "authentication_error";
  if (status === 402) return "billing_error";
  if (status === 403) return "permission_error";
  if (status === 404 || status === 405) return "not_found_error";
  if (status === 413) return "request_too_large";
  return status === 429 ? "rate_limit_error" : "invalid_request_error";
}

export function openAiType(status: number): string {
  if (status >= 500) return "server_error";
  if (status === 401) return "authentication_error";
  if (status === 402) return "insufficient_quota";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return "invalid_request_error";
}
