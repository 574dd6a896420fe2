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

/** `Retry-After` in seconds if no Island was free or had the model. */
const NO_ISLAND_RETRY_S = 5;
/** `Retry-After` in seconds. A failover of a database takes seconds; a retry may reach another coordinator. */
const RETRY_S: Partial<Record<ErrorCode, number>> = { storage_unavailable: 2, shutting_down: 1 };
/** The model or image could not be fetched: 503, because neither the coordinator nor the request is at fault. */
const FETCH_ERRORS: ReadonlySet<string> = new Set<JobErrorCode>([
  "model_unavailable",
  "model_hash_mismatch",
  "disk_full",
]);
const CANCELLED_MESSAGE =
  "The job of this request was cancelled by its account (DELETE /jobs/{id}) or by an operator; send the request again if you still need the response";
/** Does not quote the error, which may contain file names or secrets. */
const FAULT_MESSAGE = "Internal error; if it happens again, give the operator this request_id";

/** No Island started the job of a waiting client in time, or none can run it. `message` is the job's error. */
export class NoIslandError extends ServiceError {
  override readonly name = "NoIslandError";
  /** Null if a retry fails too. */
  readonly retryAfterS: number | null;
  constructor({ message, retryable }: Pick<JobError, "message" | "retryable">) {
    super("no_island_available", message);
    this.retryAfterS = retryable ? NO_ISLAND_RETRY_S : null;
  }
}

/** The job of a waiting client ended without a result. */
export class JobFailedError extends ServiceError {
  override readonly name = "JobFailedError";
  readonly jobError: string;
  readonly retryable: boolean;
  /** HTTP status, which may differ from that of the code. */
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
  /** Methods of the path. */
  readonly allowed: readonly string[];
  constructor(method: string, allowed: readonly string[]) {
    super("not_found", `Method ${method} is not allowed for this path; use ${allowed.join(" or ")}`);
    this.allowed = allowed;
  }
}

/** Format of errors: each vendor's libraries read their own. */
export type ErrorStyle = "plain" | "openai" | "anthropic";

/** Without this header, each client retries by its own list of statuses (Claude Code: 401, LangChain: 422). */
const FINAL = { "X-Should-Retry": "false" };
/** Statuses from 400 to 499 that a retry can fix: the request arrived too slowly, or there were too many. */
const WORTH_REPEATING: ReadonlySet<number> = new Set([408, 429]);

/** `error` of an error body. */
interface WireError {
  readonly message: string;
  readonly code: ErrorCode;
  /** Only for OpenAI's and Anthropic's clients. */
  readonly type?: string;
  /** Only for OpenAI's clients. */
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
  /** `type` and `request_id` are for Anthropic's clients. */
  readonly body: { readonly error: WireError; readonly type?: "error"; readonly request_id?: string };
}

interface ErrorContext {
  /** Default: "". */
  readonly requestId?: string;
  /** Default: plain. */
  readonly style?: ErrorStyle;
  /** Below `/v1`, an invalid request is 400, as in the vendors' references, and not the spec's 422. Default: false. */
  readonly isVendorBase?: boolean;
}

/** Returns the error response for a thrown value. For an unexpected error it contains only the request's id. */
export function errorResponse(
  thrown: unknown,
  { requestId = "", style = "plain", isVendorBase = false }: ErrorContext = {},
): ErrorResponse {
  if (!(thrown instanceof ServiceError)) {
    const error: WireError = { message: FAULT_MESSAGE, code: "internal", request_id: requestId };
    return { status: 500, headers: {}, body: styled(error, 500, style, requestId) };
  }
  const specStatus = statusOf(thrown);
  const status = isVendorBase && specStatus === 422 ? 400 : specStatus;
  const error: WireError = { message: thrown.message, code: thrown.code, ...extrasOf(thrown) };
  const headers = { ...finalHeaders(status), ...headersOf(thrown) };
  return { status, headers, body: styled(error, status, style, requestId) };
}

/** Returns the headers for a status that tell clients whether a retry may succeed. */
export function finalHeaders(status: number): Readonly<Record<string, string>> {
  return status >= 400 && status < 500 && !WORTH_REPEATING.has(status) ? FINAL : {};
}

function statusOf(error: ServiceError): number {
  if (error instanceof MethodNotAllowedError) return 405;
  return error instanceof JobFailedError ? error.status : ERROR_STATUS[error.code];
}

/** Returns the members of `error` in addition to message and code. */
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

/** Returns the nearest double, because a batch may cost more than a double can represent exactly. */
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

/** Null if the client need not wait. */
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

function styled(error: WireError, status: number, style: ErrorStyle, requestId: string): ErrorResponse["body"] {
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

/** Returns the HTTP status of a job's failure, which applies to errors inside a stream too. */
export function failureStatus(code: string): number {
  return code === "context_length_exceeded" || code === "invalid_input" ? 400 : 500;
}

/** Returns the `error.type` that Anthropic's API uses with a status. */
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

/** Returns the `error.type` that OpenAI's API uses with a status. */
export function openAiType(status: number): string {
  if (status >= 500) return "server_error";
  if (status === 401) return "authentication_error";
  if (status === 402) return "insufficient_quota";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return "invalid_request_error";
}
