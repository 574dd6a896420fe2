/** An invalid field. `path` is a dotted path ("messages.0.role"), or empty for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Members of an error other than its message. */
export interface AtollErrorFacts {
  readonly code?: string | undefined;
  readonly status?: number | null | undefined;
  readonly details?: readonly FieldError[] | undefined;
  readonly retryAfterS?: number | null | undefined;
  readonly requestId?: string | null | undefined;
  readonly cause?: unknown;
}

/** Base class of all errors of this client. An aborted call throws the signal's reason instead. */
export class AtollError extends Error {
  override readonly name: string = "AtollError";
  /** The coordinator's `error.code`, or a code of the client: `connection`, `timeout`, `protocol`, `configuration`. */
  readonly code: string;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Invalid fields of the request; empty for other failures. */
  readonly details: readonly FieldError[];
  /** Whole seconds to wait before the next attempt; null if the coordinator sent none. */
  readonly retryAfterS: number | null;
  /** `X-Request-Id` of the response. Quote it to the operator. */
  readonly requestId: string | null;
  /** Whether an earlier attempt of this call got no response, and so may have taken effect. */
  isRepeat = false;

  constructor(message: string, facts: AtollErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code ?? "unknown";
    this.status = facts.status ?? null;
    this.details = facts.details ?? [];
    this.retryAfterS = facts.retryAfterS ?? null;
    this.requestId = facts.requestId ?? null;
  }
}

/** Invalid options of the client, such as a missing or invalid address. */
export class ConfigurationError extends AtollError {
  override readonly name = "ConfigurationError";
  constructor(message: string) {
    super(message, { code: "configuration" });
  }
}

/** 401: no valid key or session. */
export class AuthenticationError extends AtollError {
  override readonly name = "AuthenticationError";
}

/** 402: the account cannot pay for the job, or its API key has reached its monthly limit (`code` is `key_credits_exceeded`). */
export class InsufficientCreditsError extends AtollError {
  override readonly name = "InsufficientCreditsError";
  /** Total cost of the request's jobs; null if the coordinator does not send it. */
  readonly requiredCredits: number | null;
  /** Credits that the account can spend; null if the coordinator does not send them. */
  readonly balanceCredits: number | null;
  /** Credits that the API key can still spend this month; null if the account cannot pay. */
  readonly remainingCredits: number | null;
  /** Start of the API key's next month, ISO 8601; null if the account cannot pay. */
  readonly renewsAt: string | null;
  constructor(
    message: string,
    facts: AtollErrorFacts & {
      readonly requiredCredits?: number | null;
      readonly balanceCredits?: number | null;
      readonly remainingCredits?: number | null;
      readonly renewsAt?: string | null;
    } = {},
  ) {
    super(message, facts);
    this.requiredCredits = facts.requiredCredits ?? null;
    this.balanceCredits = facts.balanceCredits ?? null;
    this.remainingCredits = facts.remainingCredits ?? null;
    this.renewsAt = facts.renewsAt ?? null;
  }
}

/** 403: the key is valid but lacks the scope, or may not run the Cargo. */
export class PermissionDeniedError extends AtollError {
  override readonly name = "PermissionDeniedError";
}

/** 404: the path, id or Cargo does not exist, or belongs to another account. */
export class NotFoundError extends AtollError {
  override readonly name = "NotFoundError";
}

/** 400, 413, 422: the request is invalid. `details` names the invalid fields. */
export class ValidationError extends AtollError {
  override readonly name = "ValidationError";
}

/** 429: a limit is still exceeded after the retries. */
export class RateLimitError extends AtollError {
  override readonly name = "RateLimitError";
  /** Name of the limit: `requests_per_minute`, `concurrent_jobs`, `concurrent_streams`, … */
  readonly limit: string | null;
  constructor(message: string, facts: AtollErrorFacts & { readonly limit?: string | null | undefined } = {}) {
    super(message, facts);
    this.limit = facts.limit ?? null;
  }
}

/** 5xx: the coordinator, or a proxy in front of it, failed. */
export class ServerError extends AtollError {
  override readonly name: string = "ServerError";
}

/** 503: temporarily unavailable, for example because no Island was free in time or the coordinator is shutting down. */
export class ServiceUnavailableError extends ServerError {
  override readonly name = "ServiceUnavailableError";
}

/** No response arrived, or an incomplete response. */
export class ConnectionError extends AtollError {
  override readonly name: string = "ConnectionError";
  constructor(message: string, facts: Pick<AtollErrorFacts, "cause" | "code"> = {}) {
    super(message, { code: "connection", ...facts });
  }
}

/** No response arrived in time, or a stream was silent for too long. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  constructor(message: string) {
    super(message, { code: "timeout" });
  }
}

/** The response is not from this API. Usually another server listens at the address. */
export class ProtocolError extends AtollError {
  override readonly name = "ProtocolError";
  constructor(message: string, facts: AtollErrorFacts = {}) {
    super(message, { code: "protocol", ...facts });
  }
}
