from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Literal, TypeAlias, Unpack
from uuid import uuid4

from .. import operations as o
from .. import schemas as s
from ..errors import AtollError
from ..events import JobStreamEvent, job_failed
from .http import AsyncHttp
from .job_stream import stream_job
from .pages import AsyncPages
from .polling import poll

JobStatus: TypeAlias = Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
_ENDED = ("completed", "failed", "cancelled", "timeout")


class AsyncJobs:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def submit(self, *, idempotency_key: str | None = None, **job: Unpack[s.SubmitJob]) -> s.SubmittedJob:
        """
        Submits a job. Returns when the job is durable. The call is retried after a broken connection, and a repeat does not create a second job.
        `idempotency_key`: a repeat with the same key and body within 24 h returns the first job; default: a new key per call.
        """
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        return (await self._http.call(o.SUBMIT_JOB, body=job, headers=headers, is_idempotent=True))["data"]

    async def run(
        self, *, idempotency_key: str | None = None, timeout: float | None = None, **job: Unpack[s.SubmitJob]
    ) -> s.Job:
        """Submits a job and waits for it; see `wait`."""
        submitted = await self.submit(idempotency_key=idempotency_key, **job)
        return await self.wait(submitted["id"], timeout=timeout)

    async def get(self, job_id: str) -> s.Job:
        return (await self._http.call(o.GET_JOB, job_id))["data"]

    def list(
        self,
        *,
        status: JobStatus | Sequence[JobStatus] | None = None,
        workload: str | None = None,
        batch: str | None = None,
        page_size: int = 100,
        offset: int = 0,
    ) -> AsyncPages[s.ListedJob]:
        """Lists jobs, newest first. `workload`: slug of a Cargo. `offset`: number of the newest jobs to skip."""
        states = status if status is None or isinstance(status, str) else ",".join(status)
        query = {"limit": page_size, "status": states, "workload": workload, "batch": batch}
        return AsyncPages(self._http, o.LIST_JOBS, query, _first_offset=offset)

    async def cancel(self, job_id: str) -> s.CancelJobAnswerData:
        """
        Cancels a job, which keeps its output so far. Also succeeds if it is already cancelled. Raises ValidationError
        `job_not_cancellable` if it ended in another state.
        """
        try:
            return (await self._http.call(o.CANCEL_JOB, job_id))["data"]
        except AtollError as error:
            if error.code != "job_not_cancellable" or (await self.get(job_id))["status"] != "cancelled":
                raise
            return {"id": job_id, "status": "cancelled"}

    async def delete_content(self, job_id: str) -> None:
        """
        Permanently removes the input and output of an ended job; cancel an unfinished job first. Status, usage and charge
        stay. Also succeeds if they are already removed. Raises ValidationError if the job has not ended.
        """
        await self._http.call(o.DELETE_JOB_CONTENT, job_id)

    async def output(self, job_id: str) -> s.JobOutput:
        """Returns the job's output so far, even while it runs."""
        return (await self._http.call(o.GET_JOB_OUTPUT, job_id))["data"]

    async def wait(self, job_id: str, *, timeout: float | None = None) -> s.Job:
        """
        Waits for the job to complete, for at most `timeout` seconds. Ending the wait does not cancel the job. Raises JobFailedError
        if it ends in another state, and AtollTimeoutError after `timeout`.
        """
        async with aclosing(poll(self._http, o.GET_JOB, job_id, timeout, has_wait=True)) as responses:
            async for response in responses:
                if response["data"]["status"] in _ENDED:
                    break
        return _completed(response["data"])

    def stream(self, job_id: str, *, last_event_id: str | None = None) -> AsyncGenerator[JobStreamEvent, None]:
        """
        Streams all events of the job to its one `done` or `error`. Reconnects when the connection drops. Begins after the event with
        `last_event_id`; see `event_id_of`.
        """
        return stream_job(self._http, job_id, last_event_id)


def _completed(job: s.Job) -> s.Job:
    """Returns a completed job. Raises JobFailedError if the job did not complete."""
    if job["status"] == "completed":
        return job
    error = job["error"]
    reason = "" if error is None else f" ({error['code']}): {error['message']}"
    code, retryable = (job["status"], False) if error is None else (error["code"], error["retryable"])
    failure = job_failed(f"Job {job['id']} ended as {job['status']}{reason}", code, retryable)
    failure.job = job
    raise failure


class AsyncBatches:
    """Batches: up to 100 jobs of one Cargo, submitted and cancelled together."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def submit(self, *, idempotency_key: str | None = None, **batch: Unpack[s.SubmitBatch]) -> s.SubmittedBatch:
        """Submits all jobs or none. The call is retried after a broken connection, and a repeat does not create a second batch."""
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        return (await self._http.call(o.SUBMIT_BATCH, body=batch, headers=headers, is_idempotent=True))["data"]

    async def get(
        self, batch_id: str, *, include: Literal["output"] | None = None, output_offset: int | None = None
    ) -> s.Batch:
        """
        Returns a batch. `jobs` are in the order of the inputs; get or stream each by its id. With `include="output"` the jobs
        from `output_offset` on contain their outputs, up to the size limit of a response. `next_output_offset` is the offset
        for the next call.
        """
        query = {"include": include, "output_offset": output_offset}
        return (await self._http.call(o.GET_BATCH, batch_id, query=query))["data"]

    async def cancel(self, batch_id: str) -> s.Batch:
        """
        Cancels all unfinished jobs. Also succeeds if the batch is already cancelled. Raises ValidationError if all jobs have ended.
        """
        try:
            return (await self._http.call(o.CANCEL_BATCH, batch_id))["data"]
        except AtollError as error:
            if error.code != "job_not_cancellable":
                raise
            batch = await self.get(batch_id)
            if batch["status"] != "cancelled":
                raise
            return batch

    async def wait(self, batch_id: str, *, timeout: float | None = None) -> s.Batch:
        """Waits until all jobs have ended in any state; see `counts`. Raises AtollTimeoutError after `timeout` seconds."""
        async with aclosing(poll(self._http, o.GET_BATCH, batch_id, timeout, has_wait=False)) as responses:
            async for response in responses:
                if response["data"]["status"] in _ENDED:
                    break
        return response["data"]
