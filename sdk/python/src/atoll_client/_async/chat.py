from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Unpack

from .. import operations as o
from .. import schemas as s
from ..errors import AtollConnectionError, AtollError
from ..events import read_chunk
from .http import LONG_TIMEOUT_S, AsyncHttp
from .pause import sleep


class AsyncChat:
    """
    OpenAI-compatible chat completions. The coordinator cancels a chat when its connection closes, so the client never retries it
    after a broken connection. For a completion that survives a broken connection, submit a job and stream it.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(self, **body: Unpack[s.ChatCompletionRequest]) -> s.ChatCompletion:
        sent: dict[str, object] = {**body, "stream": False}
        return await self._http.call(o.CREATE_CHAT_COMPLETION, body=sent, default_timeout=LONG_TIMEOUT_S)

    async def stream(self, **body: Unpack[s.ChatCompletionRequest]) -> AsyncGenerator[s.ChatCompletionChunk, None]:
        """
        Streams the chunks of a completion. Sends the request when the first chunk is read. Raises JobFailedError if the job fails,
        even after output has begun, and AtollConnectionError if the connection breaks.
        """
        retries = self._http.retries(False)
        sent: dict[str, object] = {**body, "stream": True}
        while True:
            opened = self._http.events(o.CREATE_CHAT_COMPLETION, body=sent, default_timeout=LONG_TIMEOUT_S)
            try:
                async with aclosing(opened) as events:
                    async for event in events:
                        if event.data == "[DONE]":
                            return
                        yield read_chunk(event)
                reason = "The connection closed before the end of the chat. Send the chat again"
                raise AtollConnectionError(reason, "connection")
            except AtollError as error:
                # Retries only a request that was rejected before it had any effect.
                await sleep(retries.pause_after(error))

    async def text(self, **body: Unpack[s.ChatCompletionRequest]) -> AsyncGenerator[str, None]:
        """Streams the text of a completion in pieces."""
        async with aclosing(self.stream(**body)) as chunks:
            async for chunk in chunks:
                for choice in chunk["choices"][:1]:
                    content = choice["delta"].get("content")
                    if content:
                        yield content


class AsyncEmbeddings:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(self, **body: Unpack[s.EmbeddingsRequest]) -> s.Embeddings:
        """Returns one vector per text, in the same order."""
        sent: dict[str, object] = {**body, "encoding_format": "float"}
        return await self._http.call(o.CREATE_EMBEDDINGS, body=sent, default_timeout=LONG_TIMEOUT_S)

    async def rerank(self, **body: Unpack[s.RerankRequest]) -> s.Reranking:
        """Ranks documents by their similarity to the query, best first."""
        return await self._http.call(o.CREATE_RERANKING, body=body, default_timeout=LONG_TIMEOUT_S)


class AsyncModerations:
    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(self, **body: Unpack[s.ModerationRequest]) -> s.Moderation:
        """Returns one result per text, in the same order."""
        return await self._http.call(o.CREATE_MODERATION, body=body, default_timeout=LONG_TIMEOUT_S)


class AsyncModels:
    """OpenAI-compatible list of models: Cargos, and the operator's aliases of them."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(self) -> list[s.Model]:
        return (await self._http.call(o.LIST_MODELS))["data"]

    async def get(self, model_id: str) -> s.Model:
        return await self._http.call(o.GET_MODEL, model_id)
