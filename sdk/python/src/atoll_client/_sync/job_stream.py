# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from .. import operations as o
from ..errors import AtollConnectionError, AtollError
from ..events import POSITION_LOST, JobStreamEvent, is_last, read_job_event
from .http import Http
from .pause import sleep


def stream_job(http: Http, job_id: str, last_event_id: str | None) -> Generator[JobStreamEvent, None, None]:
    """
    A job's events from the beginning, or after `last_event_id`, to its one `done` or `error`. After a dropped connection the
    stream continues after the last complete event, without gap or repeat. If a crash of the coordinator lost that position, one
    `restart` follows and the events come again from the beginning.
    """
    retries = http.retries(True)
    position = last_event_id
    while True:
        headers = {} if position is None else {"last-event-id": position}
        try:
            with closing(http.events(o.STREAM_JOB, job_id, headers=headers)) as events:
                for event in events:
                    if event.event == "no_content":
                        return
                    read = read_job_event(event)
                    position = event.id
                    retries.reset()
                    if read is None:
                        continue
                    yield read
                    if is_last(read):
                        return
            raise AtollConnectionError(f"The connection closed before the end of the stream of {job_id}", "connection")
        except AtollError as error:
            if position is not None and error.code == POSITION_LOST:
                position = None
                yield {"type": "restart"}
                continue
            sleep(retries.pause_after(error))
