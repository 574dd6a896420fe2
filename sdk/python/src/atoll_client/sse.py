from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from typing import Any

from .errors import ProtocolError

_BREAK = re.compile("\r\n|\n|\r")


@dataclass(frozen=True)
class ServerEvent:
    """A Server-Sent Event. `id` and `event` are empty if the event has none."""

    id: str
    event: str
    data: str

    def payload(self) -> Any:
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f'The payload of the event "{self.event}" is not JSON', "protocol") from error


class EventParser:
    """Parses the bytes of a stream, in pieces of any size, into events. Source: HTML standard, 9.2.6."""

    def __init__(self) -> None:
        # Drops the byte order mark, and joins characters that are split between two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line: list[str] = []
        self._is_after_cr = False
        self._id = ""
        self._event = ""
        self._data: list[str] = []

    def push(self, piece: bytes) -> list[ServerEvent]:
        """Returns the events that `piece` completes. An event without its final blank line is incomplete and ignored."""
        text = self._decoder.decode(piece)
        events: list[ServerEvent] = []
        # Skips the LF of a CR LF whose CR ended the last piece.
        start = 1 if self._is_after_cr and text.startswith("\n") else 0
        if text:
            self._is_after_cr = False
        for found in _BREAK.finditer(text, start):
            self._line.append(text[start : found.start()])
            self._end_line("".join(self._line), events)
            self._line = []
            start = found.end()
            self._is_after_cr = found.group() == "\r" and start == len(text)
        self._line.append(text[start:])
        return events

    def _end_line(self, line: str, events: list[ServerEvent]) -> None:
        if line == "":
            if self._data:
                events.append(ServerEvent(self._id, self._event, "\n".join(self._data)))
            self._event = ""
            self._data = []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
