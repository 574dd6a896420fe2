from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from .schemas import Job


class FieldError(TypedDict):
    """An invalid field. `path` is a dotted path ("messages.0.role"), or empty for the whole body."""

    path: str
    message: str


@dataclass(eq=False)
class AtollError(Exception):
    """Base class of all errors of this client."""

    message: str
    code: str = "unknown"
    """The coordinator's `error.code`, or a code of the client: `connection`, `timeout`, `protocol`, `configuration`."""
    status: int | None = None
    """HTTP status; None without a response."""
    details: list[FieldError] = field(default_factory=list)
    """Invalid fields of the request; empty for other failures."""
    retry_after_s: float | None = None
    """Seconds to wait before the next attempt; None if the coordinator sent no value."""
    request_id: str | None = None
    """`X-Request-Id` of the response. Quote it to the operator."""
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    """The coordinator's `error`, unchanged."""

    def __post_init__(self) -> None:
        super().__init__(self.message)
        self.is_repeat = False
        """Whether an earlier attempt of this call got no response, and so may have taken effect."""

    def __str__(self) -> str:
        return self.message


class ConfigurationError(AtollError):
    """Invalid options of the client, such as a missing or invalid address."""


class AuthenticationError(AtollError):
    """401: no valid key or session."""


class InsufficientCreditsError(AtollError):
    """402: the account cannot pay for the job, or its API key has reached its monthly limit (`code` is `key_credits_exceeded`)."""

    @property
    def required_credits(self) -> float | None:
        """Total cost of the request's jobs."""
        return _number(self.facts, "required_credits")

    @property
    def balance_credits(self) -> float | None:
        """Credits that the account can spend."""
        return _number(self.facts, "balance_credits")

    @property
    def remaining_credits(self) -> float | None:
        """Credits that the API key can still spend this month; None if the account cannot pay."""
        return _number(self.facts, "remaining_credits")

    @property
    def renews_at(self) -> str | None:
        """Start of the API key's next month, ISO 8601; None if the account cannot pay."""
        return _text(self.facts, "renews_at")


class PermissionDeniedError(AtollError):
    """403: the key is valid but lacks the scope, or may not run the Cargo."""


class NotFoundError(AtollError):
    """404: the path, id or Cargo does not exist, or belongs to another account."""


class ValidationError(AtollError):
    """400, 413, 422: the request is invalid. `details` names the invalid fields."""


class RateLimitError(AtollError):
    """429: a limit is still exceeded after the retries."""

    @property
    def limit(self) -> str | None:
        """Name of the limit: `requests_per_minute`, `concurrent_jobs`, `concurrent_streams`, …"""
        return _text(self.facts, "limit")


class ServerError(AtollError):
    """5xx: the coordinator, or a proxy in front of it, failed."""


class ServiceUnavailableError(ServerError):
    """503: temporarily unavailable, for example because no Island was free in time or the coordinator is shutting down."""


class JobFailedError(AtollError):
    """Raised for a job that was accepted but ended without a result: it failed, timed out or was cancelled."""

    job: Job | None = None
    """The ended job if `wait` raised the error; else None."""

    @property
    def job_error(self) -> str | None:
        """The job's `error.code`, or `cancelled`; None if the response has none."""
        return _text(self.facts, "job_error")

    @property
    def retryable(self) -> bool:
        """Whether the job may succeed if it is submitted again."""
        return self.facts.get("retryable") is True


class AtollConnectionError(AtollError):
    """No response arrived, or an incomplete response."""


class AtollTimeoutError(AtollConnectionError):
    """No response arrived in time, or a stream was silent for too long."""


class ProtocolError(AtollError):
    """The response is not from this API. Usually another server listens at the address."""


def _number(facts: dict[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _text(facts: dict[str, Any], name: str) -> str | None:
    value = facts.get(name)
    return value if isinstance(value, str) else None
