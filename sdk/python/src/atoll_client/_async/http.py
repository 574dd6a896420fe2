from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import IO, Any, TypeVar
from urllib.parse import quote

import httpx

from ..error_response import parse_error_response
from ..errors import (
    AtollConnectionError,
    AtollError,
    AtollTimeoutError,
    ConfigurationError,
    NotFoundError,
    ProtocolError,
)
from ..operation import Operation
from ..retries import Retries
from ..settings import Settings
from ..sse import EventParser, ServerEvent
from .pause import sleep

A = TypeVar("A")

_DEFAULT_TIMEOUT_S = 60.0
LONG_TIMEOUT_S = 600.0
"""Timeout of chats. A chat may wait for an Island, for its model to load, and for all tokens."""


@dataclass(frozen=True)
class Form:
    """A `multipart/form-data` body with one file. A list of values repeats its field."""

    fields: Mapping[str, str | list[str]]
    content: bytes | IO[bytes]
    filename: str

    @property
    def is_seekable(self) -> bool:
        """Whether the content can be sent again. httpx sends an open file from its beginning each time."""
        return isinstance(self.content, bytes) or self.content.seekable()


@dataclass(frozen=True)
class Request:
    """Content of one call, and the settings of its resource."""

    operation: Operation[Any]
    ids: tuple[str, ...] = ()
    query: Mapping[str, str | int | None] = field(default_factory=dict)
    body: object = None
    form: Form | None = None
    """Form sent instead of JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    """Replaces the client's setting."""
    default_timeout: float = _DEFAULT_TIMEOUT_S
    """Time limit of one attempt if neither the call nor the client sets one."""
    is_idempotent: bool | None = None
    """Whether the call may be repeated. Default: true except for POST and PATCH."""
    late_at: float = float("inf")
    """Deadline on the clock `monotonic`. Attempts neither start nor end later."""
    accepted_status: int = 200
    """A failure status that counts as success for this call."""


class AsyncHttp:
    """Sends requests to the coordinator with timeouts, retries and typed errors."""

    def __init__(self, client: httpx.AsyncClient, settings: Settings) -> None:
        self.client = client
        self.settings = settings

    async def call(self, operation: Operation[A], *ids: str, **parts: Any) -> A:
        """Calls an operation, with retries. `ids` fill the path, `parts` are fields of `Request`."""
        request = Request(operation, ids, **parts)
        result: A = _parse(*await self._read(request, "application/json"))
        return result

    async def content(self, operation: Operation[Any], *ids: str, **parts: Any) -> bytes:
        """Returns the body of a response unchanged, with retries."""
        return (await self._read(Request(operation, ids, **parts), "*/*"))[1]

    async def chunks(self, operation: Operation[Any], *ids: str, **parts: Any) -> AsyncGenerator[bytes, None]:
        """Streams the bytes of one response, without retries. The timeout limits each wait for more bytes."""
        sent = self._build(Request(operation, ids, **parts), "*/*")
        response: httpx.Response | None = None
        try:
            response = await self.client.send(sent, stream=True)
            if not response.is_success:
                await response.aread()
                raise parse_error_response(response.status_code, response.headers, response.text)
            async for piece in response.aiter_bytes():
                yield piece
        except httpx.HTTPError as error:
            raise _failure_of(error, operation, self.settings) from error
        finally:
            if response is not None:
                await response.aclose()

    async def _read(self, request: Request, accept: str) -> tuple[int, bytes]:
        """Returns status and body of one call, with retries."""
        is_idempotent = request.operation.is_idempotent if request.is_idempotent is None else request.is_idempotent
        # The first attempt consumes a pipe, so a second attempt would send nothing.
        is_read_once = request.form is not None and not request.form.is_seekable
        retries = self.retries(is_idempotent, 0 if is_read_once else None)
        while True:
            try:
                return await self._read_once(request, accept)
            except AtollError as error:
                pause = retries.pause_after(error)
                if monotonic() + pause >= request.late_at:
                    raise
                await sleep(pause)

    async def delete_once(self, operation: Operation[Any], *ids: str) -> None:
        """Deletes. A 404 after an attempt without a response counts as success, because that attempt deleted the object."""
        try:
            await self.call(operation, *ids)
        except NotFoundError as error:
            if not error.is_repeat:
                raise

    async def events(self, operation: Operation[Any], *ids: str, **parts: Any) -> AsyncGenerator[ServerEvent, None]:
        """
        Streams the events of one connection, without retries. Ends when the server closes it; closing the generator closes the
        connection. The timeout applies until the response begins, and `stream_idle` from then on. For a 204, yields one event
        `no_content`.
        """
        request = Request(operation, ids, **parts)
        sent = self._build(request, "text/event-stream")
        # httpx reads the limits again for the body, which is silent while the job is.
        limits: dict[str, float] = sent.extensions["timeout"]
        response: httpx.Response | None = None
        try:
            response = await self.client.send(sent, stream=True)
            if not response.is_success:
                await response.aread()
                raise parse_error_response(response.status_code, response.headers, response.text)
            if response.status_code == 204:
                yield ServerEvent("", "no_content", "")
                return
            content_type = response.headers.get("content-type", "")
            if not content_type.startswith("text/event-stream"):
                reason = f'{operation.path} returned "{content_type}" instead of text/event-stream. Check that base_url is the address of a coordinator'
                raise ProtocolError(reason, "protocol", response.status_code)
            limits["read"] = self.settings.stream_idle
            parser = EventParser()
            async for piece in response.aiter_bytes():
                for event in parser.push(piece):
                    yield event
        except httpx.HTTPError as error:
            raise _failure_of(error, operation, self.settings) from error
        finally:
            if response is not None:
                await response.aclose()

    def retries(self, is_idempotent: bool, max_retries: float | None = None) -> Retries:
        most = self.settings.max_retries if max_retries is None else max_retries
        return Retries(most, self.settings.backoff, is_idempotent)

    async def _read_once(self, request: Request, accept: str) -> tuple[int, bytes]:
        sent = self._build(request, accept)
        late_at = monotonic() + self._timeout_of(request)
        try:
            response = await self.client.send(sent, stream=True)
            try:
                pieces: list[bytes] = []
                async for piece in response.aiter_bytes():
                    pieces.append(piece)
                    # httpx limits each wait, but not their total.
                    if monotonic() > late_at:
                        raise httpx.ReadTimeout("The response took too long")
            finally:
                await response.aclose()
        except httpx.HTTPError as error:
            raise _failure_of(error, request.operation, self.settings) from error
        body = b"".join(pieces)
        if not response.is_success and response.status_code != request.accepted_status:
            raise parse_error_response(response.status_code, response.headers, body.decode("utf-8", "replace"))
        return response.status_code, body

    def _build(self, request: Request, accept: str) -> httpx.Request:
        settings = self.settings
        parts = iter(request.ids)
        path = "/".join(
            quote(next(parts), safe="") if part.startswith("{") else part for part in request.operation.path.split("/")
        )
        headers = {**settings.headers, "accept": accept, **request.headers}
        if settings.api_key is not None:
            headers["authorization"] = f"Bearer {settings.api_key}"
        elif not request.operation.is_public and not self._may_have_credential(headers):
            operation = f"{request.operation.method} {request.operation.path}"
            reason = f"{operation} requires an API key. Pass api_key to the client, or set ATOLL_API_KEY"
            raise ConfigurationError(reason, "configuration")
        content: bytes | None = None
        form = request.form
        if request.body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(request.body, ensure_ascii=False, allow_nan=False).encode()
        return self.client.build_request(
            request.operation.method,
            settings.api_url + path,
            params={name: value for name, value in request.query.items() if value is not None},
            headers=headers,
            content=content,
            # httpx adds the content type with the boundary.
            data=None if form is None else dict(form.fields),
            files=None if form is None else {"file": (form.filename, form.content)},
            timeout=self._timeout_of(request),
        )

    def _may_have_credential(self, headers: Mapping[str, str]) -> bool:
        """Returns whether the program's headers or its HTTP client may add a credential."""
        names = (*headers, *self.client.headers)
        return self.client.auth is not None or any(name.lower() in ("authorization", "x-api-key") for name in names)

    def _timeout_of(self, request: Request) -> float:
        timeout = self.settings.timeout if request.timeout is None else request.timeout
        left = max(0.001, request.late_at - monotonic())
        return min(left, request.default_timeout if timeout is None else timeout)


def _parse(status: int, body: bytes) -> Any:
    if body == b"":
        return None
    try:
        result = json.loads(body.decode("utf-8", "replace"))
        if isinstance(result, dict):
            return result
        cause: Exception | None = None
    except (ValueError, RecursionError) as error:
        cause = error
    reason = f"The response {status} is not a JSON object. Check that base_url is the address of a coordinator"
    raise ProtocolError(reason, "protocol", status) from cause


def _failure_of(error: httpx.HTTPError, operation: Operation[Any], settings: Settings) -> AtollConnectionError:
    if isinstance(error, httpx.TimeoutException):
        return AtollTimeoutError(f"{operation.path}: no response arrived in time, or the stream was silent for too long", "timeout")
    reason = str(error) or type(error).__name__
    return AtollConnectionError(f"The connection to {settings.api_url} failed: {reason}", "connection")
