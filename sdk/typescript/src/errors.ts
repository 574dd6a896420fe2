/** One wrong field. `path` is dotted ("messages.0.role"), empty for the whole body. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

/** What is known of a failure beside its message. */
export interface AtollErrorFacts {
  readonly code?: string | undefined;
  readonly status?: number | null | undefined;
  readonly details?: readonly FieldError[] | undefined;
  readonly retryAfterS?: number | null | undefined;
  readonly requestId?: string | null | undefined;
  readonly cause?: unknown;
}

/** Anything that went wrong between the client and the coordinator. An aborted call throws the signal's own reason instead. */
export class AtollError extends Error {
  override readonly name: string = "AtollError";
  /** The coordinator's `error.code`, or the client's own: `connection`, `timeout`, `protocol`, `configuration`. */
  readonly code: string;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Each wrong field of a request; empty for other failures. */
  readonly details: readonly FieldError[];
  /** Whole seconds after which another try is worth it, as the coordinator said. */
  readonly retryAfterS: number | null;
  /** `X-Request-Id` of the answer, to be quoted to the operator. */
  readonly requestId: string | null;
  /** An earlier try of the same call got no answer, so it may have had its effect. */
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

/** The client itself was set up wrongly: no address, or one that cannot be. */
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

/** 402: the account cannot pay for the job. */
export class InsufficientCreditsError extends AtollError {
  override readonly name = "InsufficientCreditsError";
}

/** 403: the key is valid and lacks the scope. */
export class PermissionDeniedError extends AtollError {
  override readonly name = "PermissionDeniedError";
}

/** 404: no such path, id or Cargo, or it belongs to another account. */
export class NotFoundError extends AtollError {
  override readonly name = "NotFoundError";
}

/** 400, 413, 422: the request as it is will never be accepted. `details` names wrong fields. */
export class ValidationError extends AtollError {
  override readonly name = "ValidationError";
}

/** 429: too much, too fast, also after the retries. */
export class RateLimitError extends AtollError {
  override readonly name = "RateLimitError";
  /** Which limit: `requests_per_minute`, `concurrent_jobs`, `concurrent_streams`, … */
  readonly limit: string | null;
  constructor(message: string, facts: AtollErrorFacts & { readonly limit?: string | null | undefined } = {}) {
    super(message, facts);
    this.limit = facts.limit ?? null;
  }
}

/** 5xx: the coordinator, or a proxy before it, failed. */
export class ServerError extends AtollError {
  override readonly name: string = "ServerError";
}

/** 503: not now, for example no Island in time or a coordinator that is going down. */
export class ServiceUnavailableError extends ServerError {
  override readonly name = "ServiceUnavailableError";
}

/** No answer, or one that was cut. */
export class ConnectionError extends AtollError {
  override readonly name: string = "ConnectionError";
  constructor(message: string, facts: Pick<AtollErrorFacts, "cause" | "code"> = {}) {
    super(message, { code: "connection", ...facts });
  }
}

/** No answer, or no sign of life of a stream, in the time given. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
  constructor(message: string) {
    super(message, { code: "timeout" });
  }
}

/** An answer that is not what the API gives: usually something else listens at the address. */
export class ProtocolError extends AtollError {
  override readonly name = "ProtocolError";
  constructor(message: string, facts: AtollErrorFacts = {}) {
    super(message, { code: "protocol", ...facts });
  }
}
