from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from .. import operations as o
from ..errors import AtollConnectionError, AtollError
from ..events import ToldEvent, read_account_event
from .http import AsyncHttp
from .pause import sleep


async def stream_events(
    http: AsyncHttp, scope: str | None, max_retries: int | None
) -> AsyncGenerator[ToldEvent, None]:
    """
    Streams changes of the account until the caller leaves the loop. Each connection begins with `reset`, including a reconnect:
    events may have been missed, so read your lists again. Raises AuthenticationError when the key or session has ended.
    """
    retries = http.retries(True, float("inf") if max_retries is None else max_retries)
    is_connected = False
    while True:
        try:
            async with aclosing(http.events(o.STREAM_EVENTS, query={"scope": scope})) as events:
                async for event in events:
                    is_connected = True
                    retries.reset()
                    parsed = read_account_event(event)
                    if parsed is not None:
                        yield parsed
            raise AtollConnectionError("The coordinator closed the stream of events", "connection")
        except AtollError as error:
            if is_connected:
                yield {"type": "offline"}
            is_connected = False
            await sleep(retries.pause_after(error))
