import {
  AtollError,
  AuthenticationError,
  InsufficientCreditsError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  ServiceUnavailableError,
  ValidationError,
  type AtollErrorFacts,
  type FieldError,
} from "./errors.ts";
import { JobFailedError } from "./job-failed-error.ts";

const MAX_QUOTED_CHARS = 200;

/** Returns the error for a failed response. `text` is the body, which may come from a proxy. */
export function parseErrorResponse(response: Response, text: string): AtollError {
  const { status, headers } = response;
  const error = readError(text);
  const message = stringAt(error, "message") ?? `${status} ${text.slice(0, MAX_QUOTED_CHARS)}`.trim();
  const facts: AtollErrorFacts = {
    code: stringAt(error, "code") ?? `http_${status}`,
    status,
    details: readDetails(error["details"]),
    retryAfterS: parseRetryAfter(headers.get("retry-after")) ?? numberAt(error, "retry_after"),
    requestId: headers.get("x-request-id") ?? stringAt(error, "request_id"),
  };
  if (facts.code === "job_failed") {
    return new JobFailedError(message, {
      ...facts,
      jobError: stringAt(error, "job_error"),
      retryable: error["retryable"] === true,
    });
  }
  if (status === 429) return new RateLimitError(message, { ...facts, limit: stringAt(error, "limit") });
  if (status === 402) {
    const [requiredCredits, balanceCredits] = [numberAt(error, "required_credits"), numberAt(error, "balance_credits")];
    const month = {
      remainingCredits: numberAt(error, "remaining_credits"),
      renewsAt: stringAt(error, "renews_at") ?? null,
    };
    return new InsufficientCreditsError(message, { ...facts, requiredCredits, balanceCredits, ...month });
  }
  return new (classOf(status))(message, facts);
}

function classOf(status: number): new (message: string, facts: AtollErrorFacts) => AtollError {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return ValidationError;
    case 401:
      return AuthenticationError;
    case 403:
      return PermissionDeniedError;
    case 404:
      return NotFoundError;
    case 503:
      return ServiceUnavailableError;
    default:
      return status >= 500 ? ServerError : AtollError;
  }
}

/** Parses a Retry-After header into whole seconds; a date counts from now. Null if absent or invalid. */
export function parseRetryAfter(header: string | null, nowMs: number = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}

/** Returns `error` of the body; empty if the body is not from a coordinator. */
function readError(text: string): Readonly<Record<string, unknown>> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The body is a page of a proxy. Only the status is useful.
    return {};
  }
  const error = isRecord(body) ? body["error"] : undefined;
  return isRecord(error) ? error : {};
}

function readDetails(value: unknown): FieldError[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((detail) => ({
    path: stringAt(detail, "path") ?? "",
    message: stringAt(detail, "message") ?? "",
  }));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function stringAt(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === "string" ? value : null;
}

function numberAt(record: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = record[name];
  return typeof value === "number" ? value : null;
}
