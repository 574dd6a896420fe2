from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal, Unpack, cast

from .. import operations as o
from .. import schemas as s
from ..errors import AtollConnectionError, AtollError
from ..events import AnswerEvent, is_last, read_job_event
from .http import LONG_TIMEOUT_S, AsyncHttp
from .pages import AsyncPages
from .pause import sleep


class AsyncConversations:
    """Chats whose history the coordinator stores."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def create(self, **conversation: Unpack[s.CreateConversation]) -> s.Conversation:
        return (await self._http.call(o.CREATE_CONVERSATION, body=conversation))["data"]

    def list(self, *, page_size: int = 100) -> AsyncPages[s.Conversation]:
        """Lists conversations, newest first."""
        return AsyncPages(self._http, o.LIST_CONVERSATIONS, {"limit": page_size})

    async def get(self, conversation_id: str) -> s.Conversation:
        """Returns a conversation without its messages."""
        found = (await self._http.call(o.GET_CONVERSATION, conversation_id, query={"limit": 1}))["data"]
        return cast(s.Conversation, {name: value for name, value in found.items() if name != "messages"})

    def messages(
        self, conversation_id: str, *, order: Literal["asc", "desc"] = "asc", page_size: int = 100
    ) -> AsyncPages[s.Message]:
        """Lists the messages of a conversation. `asc`: oldest first."""
        query = {"limit": page_size, "order": order}
        return AsyncPages(
            self._http,
            o.GET_CONVERSATION,
            query,
            (conversation_id,),
            _items_of=lambda response: cast("list[s.Message]", response["data"]["messages"]),
        )

    async def update(self, conversation_id: str, **change: Unpack[s.UpdateConversation]) -> s.Conversation:
        """Changes the given fields."""
        return (await self._http.call(o.UPDATE_CONVERSATION, conversation_id, body=change))["data"]

    async def delete(self, conversation_id: str) -> None:
        """Deletes a conversation with its messages and cancels an answer in progress."""
        await self._http.delete_once(o.DELETE_CONVERSATION, conversation_id)

    async def send(self, conversation_id: str, **message: Unpack[s.PostMessage]) -> s.AnsweredMessage:
        """Sends a message and waits for the complete answer."""
        sent: dict[str, object] = {**message, "stream": False}
        call = self._http.call(o.POST_MESSAGE, conversation_id, body=sent, default_timeout=LONG_TIMEOUT_S)
        return (await call)["data"]

    async def stream(
        self, conversation_id: str, **message: Unpack[s.PostMessage]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """
        Sends a message and streams the answer: one `message`, then the events of its job. The coordinator cancels the answer when
        the connection closes. Raises AtollConnectionError if the connection breaks.
        """
        retries = self._http.retries(False)
        sent: dict[str, object] = {**message, "stream": True}
        while True:
            opened = self._http.events(o.POST_MESSAGE, conversation_id, body=sent, default_timeout=LONG_TIMEOUT_S)
            try:
                async with aclosing(opened) as events:
                    async for event in events:
                        if event.event == "message":
                            yield cast(s.MessageEvent, event.payload())
                            continue
                        read = read_job_event(event)
                        if read is None:
                            continue
                        yield read
                        if is_last(read):
                            return
                reason = "The connection closed before the end of the answer. The conversation contains the part that arrived"
                raise AtollConnectionError(reason, "connection")
            except AtollError as error:
                # Retries only a request that was rejected before it had any effect.
                await sleep(retries.pause_after(error))
