/** One wrong field. `path` is dotted ("messages.0.role"); empty for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** Facts of a failure beside its message. */
export interface AtollErrorFacts {
  readonly code?: string | undefined;
  readonly status?: number | null | undefined;
  readonly details?: readonly FieldError[] | undefined;
  readonly retryAfterS?: number | null | undefined;
  readonly requestId?: string | null | undefined;
  readonly cause?: unknown;
}

/** Base of all errors of this client. An aborted call throws the signal's own reason instead. */
export class AtollError extends Error {
  override readonly name: string = "AtollError";
  /** The coordinator's `error.code`, or the client's own: `connection`, `timeout`, `protocol`, `configuration`. */
  readonly code: string;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** The wrong fields of a request; empty for other failures. */
  readonly details: readonly FieldError[];
  /** Whole seconds to wait before the next try, from the coordinator; null if it named none. */
  readonly retryAfterS: number | null;
  /** `X-Request-Id` of the answer; quote it to the operator. */
  readonly requestId: string | null;
  /** An earlier try of this call got no answer, so it may have taken effect. */
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

/** The client's options are wrong: no address, or an invalid one. */
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

/** 402: the account cannot pay for the job, or its API key has spent its month (`code` is `key_credits_exceeded`). */
export class InsufficientCreditsError extends AtollError {
  override readonly name = "InsufficientCreditsError";
  /** What the jobs of the request cost together; null from a coordinator that does not say. */
  readonly requiredCredits: number | null;
  /** What the account may spend; null from a coordinator that does not say. */
  readonly balanceCredits: number | null;
  /** What the API key may still spend in this month; null where the account cannot pay. */
  readonly remainingCredits: number | null;
  /** When the next month of the API key begins, ISO 8601; null where the account cannot pay. */
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

/** 404: no such path, id or Cargo, or it belongs to another account. */
export class NotFoundError extends AtollError {
  override readonly name = "NotFoundError";
}

/** 400, 413, 422: the request must change to be accepted. `details` names wrong fields. */
export class ValidationError extends AtollError {
  override readonly name = "ValidationError";
}

/** 429: a limit is exceeded, also after the retries. */
export class RateLimitError extends AtollError {
  override readonly name = "RateLimitError";
  /** Which limit: `requests_per_minute`, `concurrent_jobs`, `concurrent_streams`, … */
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

/** 503: temporarily unavailable, for example no Island in time or a coordinator that shuts down. */
export class ServiceUnavailableError extends ServerError {
  override readonly name = "ServiceUnavailableError";
}

/** No answer, or an incomplete one. */
export class ConnectionError extends AtollError {
  override readonly name: string = "ConnectionError";
  constructor(message: string, facts: Pick<AtollErrorFacts, "cause" | "code"> = {}) {
    super(message, { code: "connection", ...facts });
  }
}

/** No answer in time, or a stream that was silent for too long. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  constructor(message: string) {
    super(message, { code: "timeout" });
  }
}

/** The answer is not one of this API; usually another server listens at the address. */
export class ProtocolError extends AtollError {
  override readonly name = "ProtocolError";
  constructor(message: string, facts: AtollErrorFacts = {}) {
    super(message, { code: "protocol", ...facts });
  }
}
