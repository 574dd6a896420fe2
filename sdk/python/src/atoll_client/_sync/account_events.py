# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any, cast

from .. import operations as o
from ..errors import AtollConnectionError, AtollError
from ..events import ToldEvent, read_account_event
from .http import Http
from .pause import sleep


def stream_events(
    http: Http, last_event_id: str, scope: str | None, max_retries: int | None
) -> Generator[ToldEvent, None, None]:
    """
    What changes for the account, until the caller leaves the loop. Begins with `ready`; after a dropped connection it continues
    after the last event. `reset`: something may have been missed, read your lists again. Raises AuthenticationError once the key
    or session has ended.
    """
    retries = http.retries(True, float("inf") if max_retries is None else max_retries)
    position = last_event_id
    is_connected = False
    while True:
        headers = {} if position == "" else {"last-event-id": position}
        try:
            with closing(http.events(o.STREAM_EVENTS, query={"scope": scope}, headers=headers)) as events:
                for event in events:
                    is_connected = True
                    position = event.id
                    retries.reset()
                    told = read_account_event(event)
                    if told is not None:
                        yield told
            raise AtollConnectionError("The coordinator closed the stream of events", "connection")
        except AtollError as error:
            if is_connected:
                offline: Any = {"type": "offline", "event_id": position}
                yield cast(ToldEvent, offline)
            is_connected = False
            sleep(retries.pause_after(error))
