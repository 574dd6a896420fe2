# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from .. import operations as o
from ..errors import AtollConnectionError, AtollError
from ..events import ToldEvent, read_account_event
from .http import Http
from .pause import sleep


def stream_events(
    http: Http, scope: str | None, max_retries: int | None
) -> Generator[ToldEvent, None, None]:
    """
    Hints of what changes for the account, until the caller leaves the loop. Each connection begins with `reset`, also after a
    dropped one. `reset`: something may have been missed, read your lists. Raises AuthenticationError once the key or session has
    ended.
    """
    retries = http.retries(True, float("inf") if max_retries is None else max_retries)
    is_connected = False
    while True:
        try:
            with closing(http.events(o.STREAM_EVENTS, query={"scope": scope})) as events:
                for event in events:
                    is_connected = True
                    retries.reset()
                    told = read_account_event(event)
                    if told is not None:
                        yield told
            raise AtollConnectionError("The coordinator closed the stream of events", "connection")
        except AtollError as error:
            if is_connected:
                yield {"type": "offline"}
            is_connected = False
            sleep(retries.pause_after(error))
