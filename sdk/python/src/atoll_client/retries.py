from __future__ import annotations

from dataclasses import dataclass
from random import random

from .errors import AtollConnectionError, AtollError, RateLimitError, ServiceUnavailableError

_MAX_RETRY_AFTER_S = 60
"""Longest Retry-After that the client waits for. If it is longer, the call raises."""
_MAX_JITTER_S = 0.25
"""Largest jitter added to a Retry-After."""
_GATEWAY_STATUSES = frozenset({502, 504})
"""Statuses of a proxy that got no response from the coordinator, so the outcome is unknown."""
_NO_EFFECT_CODES = frozenset({"shutting_down", "http_503"})
"""Codes of a 503 without any effect: the coordinator is shutting down, or a proxy cannot reach it."""


@dataclass(frozen=True)
class Backoff:
    first_s: float = 0.5
    """Pause before the second attempt."""
    most_s: float = 8.0
    """Longest pause."""


class Retries:
    """Counts the attempts of one call and returns the pauses between them. Does not sleep."""

    def __init__(self, max_retries: float, backoff: Backoff, is_idempotent: bool) -> None:
        """`is_idempotent`: a repeat has no further effect, so that the call can be retried when its outcome is unknown."""
        self._max_retries = max_retries
        self._backoff = backoff
        self._is_idempotent = is_idempotent
        self._failures = 0
        self._is_answer_lost = False

    def reset(self) -> None:
        """Resets the count of failures after progress."""
        self._failures = 0

    def pause_after(self, error: AtollError) -> float:
        """Returns the seconds until the next attempt. Raises `error` if no further attempt is made."""
        error.is_repeat = self._is_answer_lost
        self._failures += 1
        if not self._is_worth_repeating(error) or self._failures > self._max_retries:
            raise error
        if _is_answer_lost(error):
            self._is_answer_lost = True
        return retry_delay_s(self._failures, error.retry_after_s, self._backoff, random())

    def _is_worth_repeating(self, error: AtollError) -> bool:
        if (error.retry_after_s or 0) > _MAX_RETRY_AFTER_S:
            return False
        if _is_refused_without_effect(error):
            return True
        return self._is_idempotent and (isinstance(error, ServiceUnavailableError) or _is_answer_lost(error))


def _is_refused_without_effect(error: AtollError) -> bool:
    """
    Returns whether the request was rejected without any effect, so that even a non-idempotent call can be sent again.
    `no_island_available` does not qualify: the chat's job existed and has ended, and a conversation has stored the question.
    """
    if isinstance(error, RateLimitError):
        return True
    return isinstance(error, ServiceUnavailableError) and error.code in _NO_EFFECT_CODES


def _is_answer_lost(error: AtollError) -> bool:
    return isinstance(error, AtollConnectionError) or error.status in _GATEWAY_STATUSES


def retry_delay_s(failures: int, retry_after_s: float | None, backoff: Backoff, chance: float) -> float:
    """
    Returns the pause after the `failures`th failure in a row. With a Retry-After the pause is at least that long. Otherwise it
    is between half and all of a pause that doubles each time. The jitter prevents clients that failed at the same time from
    retrying at the same time. `chance`: 0 to 1.
    """
    if retry_after_s is not None:
        return retry_after_s + chance * _MAX_JITTER_S
    # The exponent is bounded, because a stream of events may fail any number of times.
    full = min(backoff.most_s, backoff.first_s * 2.0 ** min(failures - 1, 60))
    return full * (0.5 + chance / 2)
