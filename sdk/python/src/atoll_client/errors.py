from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from .schemas import Job


class FieldError(TypedDict):
    """One wrong field. `path` is dotted ("messages.0.role"); empty for the whole body."""

    path: str
    message: str


@dataclass(eq=False)
class AtollError(Exception):
    """Base of all errors of this client."""

    message: str
    code: str = "unknown"
    """The coordinator's `error.code`, or the client's own: `connection`, `timeout`, `protocol`, `configuration`."""
    status: int | None = None
    """HTTP status; None without an answer."""
    details: list[FieldError] = field(default_factory=list)
    """The wrong fields of a request; empty for other failures."""
    retry_after_s: float | None = None
    """Seconds to wait before the next try, from the coordinator; None if it named none."""
    request_id: str | None = None
    """`X-Request-Id` of the answer; quote it to the operator."""
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    """The coordinator's `error` as it was sent."""

    def __post_init__(self) -> None:
        super().__init__(self.message)
        self.is_repeat = False
        """An earlier try of this call got no answer, so it may have taken effect."""

    def __str__(self) -> str:
        return self.message


class ConfigurationError(AtollError):
    """The client's options are wrong: no address, or an invalid one."""


class AuthenticationError(AtollError):
    """401: no valid key or session."""


class InsufficientCreditsError(AtollError):
    """402: the account cannot pay for the job, or its API key has spent its month (`code` is `key_credits_exceeded`)."""

    @property
    def required_credits(self) -> float | None:
        """What the jobs of the request cost together."""
        return _number(self.facts, "required_credits")

    @property
    def balance_credits(self) -> float | None:
        """What the account may spend."""
        return _number(self.facts, "balance_credits")

    @property
    def remaining_credits(self) -> float | None:
        """What the API key may still spend in this month; None where the account cannot pay."""
        return _number(self.facts, "remaining_credits")

    @property
    def renews_at(self) -> str | None:
        """When the next month of the API key begins, ISO 8601; None where the account cannot pay."""
        return _text(self.facts, "renews_at")


class PermissionDeniedError(AtollError):
    """403: the key is valid but lacks the scope, or may not run the Cargo."""


class NotFoundError(AtollError):
    """404: no such path, id or Cargo, or it belongs to another account."""


class ValidationError(AtollError):
    """400, 413, 422: the request must change to be accepted. `details` names wrong fields."""


class RateLimitError(AtollError):
    """429: a limit is exceeded, also after the retries."""

    @property
    def limit(self) -> str | None:
        """Which limit: `requests_per_minute`, `concurrent_jobs`, `concurrent_streams`, …"""
        return _text(self.facts, "limit")


class ServerError(AtollError):
    """5xx: the coordinator, or a proxy in front of it, failed."""


class ServiceUnavailableError(ServerError):
    """503: temporarily unavailable, for example no Island in time or a coordinator that shuts down."""


class JobFailedError(AtollError):
    """The job was accepted but ended without a result: it failed, timed out, or was cancelled."""

    job: Job | None = None
    """The ended job, from `wait`; else None."""

    @property
    def job_error(self) -> str | None:
        """The job's `error.code`, or `cancelled`; None if the answer does not say."""
        return _text(self.facts, "job_error")

    @property
    def retryable(self) -> bool:
        """The same job may succeed when submitted again."""
        return self.facts.get("retryable") is True


class AtollConnectionError(AtollError):
    """No answer, or an incomplete one."""


class AtollTimeoutError(AtollConnectionError):
    """No answer in time, or a stream that was silent for too long."""


class ProtocolError(AtollError):
    """The answer is not one of this API; usually another server listens at the address."""


def _number(facts: dict[str, Any], name: str) -> float | None:
    value = facts.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _text(facts: dict[str, Any], name: str) -> str | None:
    value = facts.get(name)
    return value if isinstance(value, str) else None
