from __future__ import annotations

from collections.abc import AsyncGenerator
from time import monotonic
from typing import TypeVar

from ..errors import AtollConnectionError, AtollTimeoutError
from ..operation import Operation
from .http import AsyncHttp
from .pause import sleep

A = TypeVar("A")

_LONG_POLL_S = 30
"""Duration of a long poll. It is long, so that requests are few, but stays below the idle limit of proxies, which is often a minute. The API permits up to 60."""
_LONG_POLL_MARGIN_S = 30.0
"""Time that a single long poll may take in addition to its duration."""
_FIRST_PAUSE_S = 0.25
_MAX_PAUSE_S = 4.0
_MIN_LONG_POLL_S = 5.0
"""Shortest duration of a long poll. After a response this slow, the next request needs no pause."""


async def poll(
    http: AsyncHttp, operation: Operation[A], item_id: str, timeout: float | None, has_wait: bool
) -> AsyncGenerator[A, None]:
    """
    Yields the responses of repeated calls. Pauses grow while responses are quick, as they are without long polling.
    Raises AtollTimeoutError after `timeout` seconds.
    """
    late_at = monotonic() + (float("inf") if timeout is None else timeout)
    pause = _FIRST_PAUSE_S
    while True:
        asked_at = monotonic()
        wait_s = min(_LONG_POLL_S, int(late_at - asked_at) if timeout is not None else _LONG_POLL_S)
        query = {"wait": wait_s} if has_wait and wait_s > 0 else {}
        try:
            yield await http.call(
                operation, item_id, query=query, timeout=_LONG_POLL_S + _LONG_POLL_MARGIN_S, late_at=late_at
            )
        except AtollConnectionError as error:
            if monotonic() < late_at:
                raise
            raise _late(item_id, timeout) from error
        if monotonic() >= late_at:
            raise _late(item_id, timeout)
        if monotonic() - asked_at >= _MIN_LONG_POLL_S:
            pause = _FIRST_PAUSE_S
            continue
        await sleep(min(pause, max(0.0, late_at - monotonic())))
        pause = min(_MAX_PAUSE_S, pause * 2)


def _late(item_id: str, timeout: float | None) -> AtollTimeoutError:
    return AtollTimeoutError(f"{item_id} did not end within {timeout} s", "timeout")
