"""A turn that is followed to its end, over as many connections as it takes."""

from __future__ import annotations

import json
import time
from typing import Callable, Iterator, NamedTuple, Optional

from .connection import BROKEN, UNREACHABLE, Patience, Request, Response
from .content import Content
from .errors import ConnectionLost, RequestError
from .protocol import AgentEvent
from .sse import SseParser


class Line(NamedTuple):
    """What a turn needs of the client that it belongs to."""

    patience: Patience
    first: Callable[[], Request]
    """Makes ready what opens the stream; as often as it takes until the turn is told."""
    again: Callable[[str, str], Request]
    """Makes ready what opens the stream of a request behind an id."""
    abort: Callable[[str], None]


class Turn:
    """A turn of an agent: its events as they come, and what they add up to.

    It is read once, by ``for`` or by :meth:`finished`. A connection that breaks is made again behind
    the last event that was recorded, or, before the turn was told, by the same request under the same
    key; blocks that were open then begin anew, which :attr:`message` minds by itself. To stop reading
    does not stop the turn; :meth:`abort` does.
    """

    def __init__(self, line: Line, request_id: Optional[str] = None, after: str = "") -> None:
        self.message = Content()
        """What the turn has said so far."""
        self.request_id = request_id
        """The turn's id, once the first event is there."""
        self.thread_id: Optional[str] = None
        """The thread's id, once the first event is there."""
        self.last_event_id = after
        """The id behind which a later reader may go on; empty before the first one."""
        self.reconnects = 0
        """How often the connection was made again."""
        self._line = line
        self._events = self._read()

    def __iter__(self) -> Iterator[AgentEvent]:
        return self._events

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        self._events.close()

    def finished(self) -> AgentEvent:
        """Reads what is left, and returns the event that ends the stream."""
        for _ in self._events:
            pass
        if self.message.end is None:
            raise ConnectionLost("the stream was left early", self.request_id)
        return self.message.end

    def abort(self) -> None:
        """Stops the turn itself, for everybody who follows it. The stream then ends with
        ``aborted``."""
        if self.request_id is None:
            raise ValueError("the turn has not begun yet")
        self._line.abort(self.request_id)

    def _read(self) -> Iterator[AgentEvent]:
        patience = self._line.patience
        attempt, gaps, is_first, is_answered = 0, 0, True, False
        while True:
            cause: Optional[BaseException] = None
            pause: Optional[float] = None
            response: Optional[Response] = None
            parser = SseParser(self.last_event_id)
            # What fails here no further try mends: a user who is signed out, an address that is none.
            if self.request_id is None:
                request = self._line.first()
            else:
                request = self._line.again(self.request_id, self.last_event_id)
            try:
                response = request.answer()
                is_answered = True
                if response.status == 204:
                    return
                if response.status != 200:
                    raise response.refusal()
                is_first = False
                for frame in response.frames(parser):
                    event: AgentEvent = json.loads(frame.data)
                    if event["event"] == "metadata":
                        self.request_id = event["requestId"]
                        self.thread_id = event["threadId"]
                    if not self.message.apply(event):
                        cause, gaps = ValueError("an event is missing from the stream"), gaps + 1
                        break
                    self.last_event_id = frame.last_event_id
                    if event["event"] != "metadata":
                        attempt = 0
                    yield event
                    if self.message.end is not None:
                        return
                pause = None if parser.retry is None else parser.retry / 1000
            except RequestError as error:
                # What is refused at once, so that no turn has begun, is the caller's to try again.
                if is_first or not error.retryable:
                    raise
                cause, pause = error, error.retry_after
            except BROKEN as error:
                if is_first and isinstance(error, UNREACHABLE):
                    raise
                cause = error
            finally:
                if response is not None:
                    response.close()
            attempt += 1
            tries = patience.tries if is_answered else min(patience.tries, patience.unanswered)
            if max(attempt, gaps) > tries:
                message = f"gave up after {tries} tries"
                raise ConnectionLost(message, self.request_id) from cause
            is_first = False
            self.reconnects += 1
            time.sleep(max(patience.wait(attempt), (pause or 0) if attempt > 1 else 0))
