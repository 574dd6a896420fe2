from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from . import schemas as s
from .errors import JobFailedError, ProtocolError
from .sse import ServerEvent

POSITION_LOST = "position_lost"
"""Error code for a stream position that the coordinator lost in a crash."""
_JOB_EVENTS = frozenset({"status", "token", "reasoning", "tool_call", "progress", "image", "done", "error"})
_ACCOUNT_EVENTS = frozenset({"reset", "job", "island", "island_removed", "account", "balance", "overview"})


class RestartEvent(TypedDict):
    """
    Signals that the coordinator crashed and lost output that it had delivered. Discard all earlier events of this stream: the job's
    events follow from the beginning.
    """

    type: Literal["restart"]


class OfflineEvent(TypedDict):
    """Reports that the connection is lost. `reset` follows when the client has reconnected."""

    type: Literal["offline"]


JobStreamEvent: TypeAlias = "s.JobEvent | RestartEvent"
AnswerEvent: TypeAlias = "s.MessageEvent | s.JobEvent"
ToldEvent: TypeAlias = "s.AccountEvent | OfflineEvent"


class _Placed(TypedDict):
    event_id: NotRequired[str]


def event_id_of(event: JobStreamEvent) -> str:
    """Returns the position of an event, for `last_event_id` of a later stream; empty for `restart` and before the first event."""
    return cast(_Placed, event).get("event_id", "")


def read_job_event(event: ServerEvent) -> s.JobEvent | None:
    """Returns the job event, or None for a type that this version of the client does not know."""
    return cast("s.JobEvent", _placed(event)) if event.event in _JOB_EVENTS else None


def read_account_event(event: ServerEvent) -> s.AccountEvent | None:
    """Returns the account event, or None for a type that this version of the client does not know."""
    return cast("s.AccountEvent", _payload(event)) if event.event in _ACCOUNT_EVENTS else None


def read_chunk(event: ServerEvent) -> s.ChatCompletionChunk:
    """Parses a chunk. Raises JobFailedError for an `{error}` line."""
    chunk = event.payload()
    if not isinstance(chunk, dict):
        raise ProtocolError("A chunk of the chat must be an object", "protocol")
    error = chunk.get("error")
    if not isinstance(error, dict):
        return cast("s.ChatCompletionChunk", chunk)
    raise job_failed(str(error.get("message")), error.get("code"), error.get("retryable") is True)


def job_failed(message: str, job_error: object, retryable: bool) -> JobFailedError:
    return JobFailedError(message, "job_failed", facts={"job_error": job_error, "retryable": retryable})


def is_last(event: s.JobEvent) -> bool:
    """Returns whether this is the last event of its stream."""
    return event["type"] in ("done", "error")


def _placed(event: ServerEvent) -> dict[str, Any]:
    return {**_payload(event), "event_id": event.id}


def _payload(event: ServerEvent) -> dict[str, Any]:
    payload = event.payload()
    if not isinstance(payload, dict):
        raise ProtocolError(f'The payload of the event "{event.event}" is not an object', "protocol")
    return payload
