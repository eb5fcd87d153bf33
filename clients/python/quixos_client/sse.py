"""Server-sent events as the WHATWG standard parses them, a chunk at a time.

Lines end with CR, LF or CRLF, also where a chunk ends in between. A block without data is no event,
but what it says about ``id`` and ``retry`` counts.
"""

from __future__ import annotations

import codecs
import re
from typing import List, NamedTuple, Optional

_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")


class Frame(NamedTuple):
    """One event of a stream."""

    last_event_id: str
    """The id that the stream is at, with this event; empty if it has said none."""
    event: str
    """Its name; ``message`` where none is given."""
    data: str


class SseParser:
    """Puts events together from bytes."""

    def __init__(self, last_event_id: str = "") -> None:
        self.last_event_id = last_event_id
        self.retry: Optional[int] = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._event = ""
        self._data: List[str] = []
        self._id = last_event_id
        self._begun = False

    def push(self, chunk: bytes) -> List[Frame]:
        """Takes the next bytes of the stream, and returns the events that they complete."""
        text = self._decoder.decode(chunk)
        if text and not self._begun:
            self._begun = True
            text = text[1:] if text.startswith("\ufeff") else text
        *lines, self._rest = _LINE_END.split(self._rest + text)
        frames: List[Frame] = []
        for line in lines:
            if line:
                self._field(line)
            else:
                self._end(frames)
        return frames

    def _end(self, frames: List[Frame]) -> None:
        self.last_event_id = self._id
        if self._data:
            frames.append(Frame(self._id, self._event or "message", "\n".join(self._data)))
        self._event, self._data = "", []

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry = int(value)
