# Generated from the file of the same name in _async by `npm run generate`. Not for editing.
from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Literal, Unpack, cast

from .. import operations as o
from .. import schemas as s
from ..errors import AtollConnectionError, AtollError
from ..events import AnswerEvent, is_last, read_job_event
from .http import LONG_TIMEOUT_S, Http
from .pages import Pages
from .pause import sleep


class Conversations:
    """Chats whose history the coordinator stores."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, **conversation: Unpack[s.CreateConversation]) -> s.Conversation:
        return (self._http.call(o.CREATE_CONVERSATION, body=conversation))["data"]

    def list(self, *, page_size: int = 100) -> Pages[s.Conversation]:
        """Newest first."""
        return Pages(self._http, o.LIST_CONVERSATIONS, {"limit": page_size})

    def get(self, conversation_id: str) -> s.Conversation:
        """Without its messages."""
        found = (self._http.call(o.GET_CONVERSATION, conversation_id, query={"limit": 1}))["data"]
        return cast(s.Conversation, {name: value for name, value in found.items() if name != "messages"})

    def messages(
        self, conversation_id: str, *, order: Literal["asc", "desc"] = "asc", page_size: int = 100
    ) -> Pages[s.Message]:
        """`asc`: oldest first."""
        query = {"limit": page_size, "order": order}
        return Pages(
            self._http,
            o.GET_CONVERSATION,
            query,
            (conversation_id,),
            _items_of=lambda answer: cast("list[s.Message]", answer["data"]["messages"]),
        )

    def update(self, conversation_id: str, **change: Unpack[s.UpdateConversation]) -> s.Conversation:
        """Changes the given fields."""
        return (self._http.call(o.UPDATE_CONVERSATION, conversation_id, body=change))["data"]

    def delete(self, conversation_id: str) -> None:
        """Deletes a conversation with its messages and cancels an answer in progress."""
        self._http.delete_once(o.DELETE_CONVERSATION, conversation_id)

    def send(self, conversation_id: str, **message: Unpack[s.PostMessage]) -> s.AnsweredMessage:
        """Sends a message and waits for the whole answer."""
        sent: dict[str, object] = {**message, "stream": False}
        call = self._http.call(o.POST_MESSAGE, conversation_id, body=sent, default_timeout=LONG_TIMEOUT_S)
        return (call)["data"]

    def stream(
        self, conversation_id: str, **message: Unpack[s.PostMessage]
    ) -> Generator[AnswerEvent, None, None]:
        """
        Sends a message and streams the answer: one `message`, then the events of its job. The coordinator cancels the answer when
        the connection closes. Raises AtollConnectionError when the stream was cut.
        """
        retries = self._http.retries(False)
        sent: dict[str, object] = {**message, "stream": True}
        while True:
            opened = self._http.events(o.POST_MESSAGE, conversation_id, body=sent, default_timeout=LONG_TIMEOUT_S)
            try:
                with closing(opened) as events:
                    for event in events:
                        if event.event == "message":
                            yield cast(s.MessageEvent, event.payload())
                            continue
                        read = read_job_event(event)
                        if read is None:
                            continue
                        yield read
                        if is_last(read):
                            return
                reason = "The connection closed before the end of the answer; the conversation has what arrived"
                raise AtollConnectionError(reason, "connection")
            except AtollError as error:
                # Retries only a request that was refused before it did anything.
                sleep(retries.pause_after(error))
