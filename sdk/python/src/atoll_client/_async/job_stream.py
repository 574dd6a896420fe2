from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from .. import operations as o
from ..errors import AtollConnectionError, AtollError
from ..events import POSITION_LOST, JobStreamEvent, is_last, read_job_event
from .http import AsyncHttp
from .pause import sleep


async def stream_job(http: AsyncHttp, job_id: str, last_event_id: str | None) -> AsyncGenerator[JobStreamEvent, None]:
    """
    Streams a job's events from the beginning, or after `last_event_id`, to its one `done` or `error`. After a dropped connection the
    stream continues after the last complete event, without gap or repeat. If a crash of the coordinator lost that position, one
    `restart` follows, and the events start from the beginning.
    """
    retries = http.retries(True)
    position = last_event_id
    while True:
        headers = {} if position is None else {"last-event-id": position}
        try:
            async with aclosing(http.events(o.STREAM_JOB, job_id, headers=headers)) as events:
                async for event in events:
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
            await sleep(retries.pause_after(error))
