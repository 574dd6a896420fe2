# Generated from the file of the same name in _async by `npm run sdk:types`. Not for editing.
from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Literal, TypeAlias, Unpack
from uuid import uuid4

from .. import operations as o
from .. import schemas as s
from ..errors import AtollError
from ..events import JobStreamEvent, job_failed
from .http import Http
from .job_stream import stream_job
from .pages import Pages
from .polling import poll

JobStatus: TypeAlias = Literal["pending", "queued", "running", "completed", "failed", "cancelled", "timeout"]
_ENDED = ("completed", "failed", "cancelled", "timeout")


class Jobs:
    def __init__(self, http: Http) -> None:
        self._http = http

    def submit(self, *, idempotency_key: str | None = None, **job: Unpack[s.SubmitJob]) -> s.SubmittedJob:
        """
        Returns when the job is durable. Safe to retry after a cut connection: a repeat makes no second job. The same key and body
        within 24 h return the first job again; default: a new key for each call.
        """
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        return (self._http.call(o.SUBMIT_JOB, body=job, headers=headers, is_idempotent=True))["data"]

    def run(
        self, *, idempotency_key: str | None = None, timeout: float | None = None, **job: Unpack[s.SubmitJob]
    ) -> s.Job:
        """Submits a job and waits for it, see `wait`."""
        submitted = self.submit(idempotency_key=idempotency_key, **job)
        return self.wait(submitted["id"], timeout=timeout)

    def get(self, job_id: str) -> s.Job:
        return (self._http.call(o.GET_JOB, job_id))["data"]

    def list(
        self,
        *,
        status: JobStatus | Sequence[JobStatus] | None = None,
        workload: str | None = None,
        batch: str | None = None,
        page_size: int = 100,
        offset: int = 0,
    ) -> Pages[s.ListedJob]:
        """Newest first. `workload`: a Cargo's slug; `offset`: how many of the newest jobs to skip."""
        states = status if status is None or isinstance(status, str) else ",".join(status)
        query = {"limit": page_size, "status": states, "workload": workload, "batch": batch}
        return Pages(self._http, o.LIST_JOBS, query, _first_offset=offset)

    def cancel(self, job_id: str) -> s.CancelJobAnswerData:
        """
        Cancels a job, which keeps what it has; returns also if it is already cancelled. Raises ValidationError
        `job_not_cancellable` when it ended in another state.
        """
        try:
            return (self._http.call(o.CANCEL_JOB, job_id, query={"if_ended": "refuse"}))["data"]
        except AtollError as error:
            if error.code != "job_not_cancellable" or (self.get(job_id))["status"] != "cancelled":
                raise
            return {"id": job_id, "status": "cancelled"}

    def delete(self, job_id: str) -> None:
        """Removes the job's prompt and answer for good; cancels it first if it has not ended. Its usage and charge stay."""
        while (self._http.call(o.CANCEL_JOB, job_id))["data"]["status"] != "deleted":
            pass

    def output(self, job_id: str) -> s.JobOutput:
        """The job's output so far, also while it runs."""
        return (self._http.call(o.GET_JOB_OUTPUT, job_id))["data"]

    def wait(self, job_id: str, *, timeout: float | None = None) -> s.Job:
        """
        Waits for the job to complete, for `timeout` seconds at most. Giving up does not cancel the job. Raises JobFailedError when
        it ends in another state, AtollTimeoutError when it is late.
        """
        with closing(poll(self._http, o.GET_JOB, job_id, timeout, has_wait=True)) as answers:
            for answer in answers:
                if answer["data"]["status"] in _ENDED:
                    break
        return _completed(answer["data"])

    def stream(self, job_id: str, *, last_event_id: str | None = None) -> Generator[JobStreamEvent, None, None]:
        """
        All events of the job to its one `done` or `error`; reconnects when the connection drops. Begins after the event with
        `last_event_id`, see `event_id_of`.
        """
        return stream_job(self._http, job_id, last_event_id)


def _completed(job: s.Job) -> s.Job:
    """Raises JobFailedError if the job did not complete."""
    if job["status"] == "completed":
        return job
    error = job["error"]
    reason = "" if error is None else f" ({error['code']}): {error['message']}"
    code, retryable = (job["status"], False) if error is None else (error["code"], error["retryable"])
    failure = job_failed(f"Job {job['id']} ended as {job['status']}{reason}", code, retryable)
    failure.job = job
    raise failure


class Batches:
    """Batches: up to 100 jobs of one Cargo, submitted and cancelled together."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def submit(self, *, idempotency_key: str | None = None, **batch: Unpack[s.SubmitBatch]) -> s.SubmittedBatch:
        """Submits all jobs or none. Safe to retry after a cut connection: a repeat makes no second batch."""
        headers = {"idempotency-key": idempotency_key or str(uuid4())}
        return (self._http.call(o.SUBMIT_BATCH, body=batch, headers=headers, is_idempotent=True))["data"]

    def get(
        self, batch_id: str, *, include: Literal["output"] | None = None, output_offset: int | None = None
    ) -> s.Batch:
        """
        The batch. `jobs` are in the order of the inputs; get or stream each by its id. With `include="output"` they have their
        outputs, from job `output_offset` on and as many as one answer may hold: `next_output_offset` is where the next call goes on.
        """
        query = {"include": include, "output_offset": output_offset}
        return (self._http.call(o.GET_BATCH, batch_id, query=query))["data"]

    def cancel(self, batch_id: str) -> s.Batch:
        """
        Cancels every job that has not ended; returns the batch also if it is already cancelled. Raises ValidationError when all
        jobs have ended.
        """
        try:
            return (self._http.call(o.CANCEL_BATCH, batch_id))["data"]
        except AtollError as error:
            if error.code != "job_not_cancellable":
                raise
            batch = self.get(batch_id)
            if batch["status"] != "cancelled":
                raise
            return batch

    def wait(self, batch_id: str, *, timeout: float | None = None) -> s.Batch:
        """Waits until all jobs have ended, in any state; see `counts`. Raises AtollTimeoutError after `timeout` seconds."""
        with closing(poll(self._http, o.GET_BATCH, batch_id, timeout, has_wait=False)) as answers:
            for answer in answers:
                if answer["data"]["status"] in _ENDED:
                    break
        return answer["data"]
