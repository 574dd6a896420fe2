# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Unpack

from .. import operations as o
from .. import schemas as s
from ..errors import AtollConnectionError, AtollError
from ..events import read_chunk
from .http import LONG_TIMEOUT_S, Http
from .pause import sleep


class Chat:
    """
    Chat completions as OpenAI has them. The coordinator cancels a chat when its connection closes, so the client never retries
    one after a cut. For an answer that survives a cut connection, submit a job and stream it.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, **body: Unpack[s.ChatCompletionRequest]) -> s.ChatCompletion:
        sent: dict[str, object] = {**body, "stream": False}
        return self._http.call(o.CREATE_CHAT_COMPLETION, body=sent, default_timeout=LONG_TIMEOUT_S)

    def stream(self, **body: Unpack[s.ChatCompletionRequest]) -> Generator[s.ChatCompletionChunk, None, None]:
        """
        The chunks of the answer. Sends the request when the first chunk is read. Raises JobFailedError when the job fails, also
        after output began, and AtollConnectionError when the stream was cut.
        """
        retries = self._http.retries(False)
        sent: dict[str, object] = {**body, "stream": True}
        while True:
            opened = self._http.events(o.CREATE_CHAT_COMPLETION, body=sent, default_timeout=LONG_TIMEOUT_S)
            try:
                with closing(opened) as events:
                    for event in events:
                        if event.data == "[DONE]":
                            return
                        yield read_chunk(event)
                reason = "The connection closed before the end of the chat; send it again"
                raise AtollConnectionError(reason, "connection")
            except AtollError as error:
                # Retries only a request that was refused before it did anything.
                sleep(retries.pause_after(error))

    def text(self, **body: Unpack[s.ChatCompletionRequest]) -> Generator[str, None, None]:
        """The text of the answer, in pieces as it arrives."""
        with closing(self.stream(**body)) as chunks:
            for chunk in chunks:
                for choice in chunk["choices"][:1]:
                    content = choice["delta"].get("content")
                    if content:
                        yield content


class Embeddings:
    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, **body: Unpack[s.EmbeddingsRequest]) -> s.Embeddings:
        """One vector for each text, in the same order."""
        sent: dict[str, object] = {**body, "encoding_format": "float"}
        return self._http.call(o.CREATE_EMBEDDINGS, body=sent, default_timeout=LONG_TIMEOUT_S)

    def rerank(self, **body: Unpack[s.RerankRequest]) -> s.Reranking:
        """Documents by how near they are to the query, best first."""
        return self._http.call(o.CREATE_RERANKING, body=body, default_timeout=LONG_TIMEOUT_S)


class Moderations:
    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, **body: Unpack[s.ModerationRequest]) -> s.Moderation:
        """One result for each text, in the same order."""
        return self._http.call(o.CREATE_MODERATION, body=body, default_timeout=LONG_TIMEOUT_S)


class Models:
    """Cargos, and the operator's aliases of them, in the shape of OpenAI's models."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(self) -> list[s.Model]:
        return (self._http.call(o.LIST_MODELS))["data"]

    def get(self, model_id: str) -> s.Model:
        return self._http.call(o.GET_MODEL, model_id)
