"""A client of agents."""

from __future__ import annotations

import json
import secrets
from typing import Any, Callable, Dict, List, Optional, Sequence, Union
from urllib.parse import quote

from .connection import Patience, Request
from .protocol import ActionResult, AgentRequest, InputMessage
from .turn import Line, Turn


class Client:
    """A client of agents, for one owner.

    :param url: Where the host is: ``https://agents.example.com``.
    :param token: A client's token, or what gets one; it is asked for each connection.
    :param patience: What is done when a connection breaks.
    """

    def __init__(
        self,
        url: str,
        token: Union[str, Callable[[], str]],
        patience: Patience = Patience(),
    ) -> None:
        self._url = url
        self._token = token
        self._patience = patience

    def send(
        self,
        agent: str,
        message: Union[str, Sequence[InputMessage]],
        thread_id: Optional[str] = None,
        context: Optional[Dict[str, Any]] = None,
        key: Optional[str] = None,
    ) -> Turn:
        """Says something to an agent, and follows what comes of it. Without a thread, a new one
        begins. The key is what this message is known by, and made up if it is not given: whoever
        sends the same under it again, also from elsewhere, follows the same turn."""
        messages: List[InputMessage] = list(message) if not isinstance(message, str) else [
            {"content": [{"type": "text", "text": message}]}
        ]
        return self.request(agent, _request(messages, thread_id, context), key)

    def answer(
        self,
        agent: str,
        thread_id: str,
        results: Sequence[ActionResult],
        context: Optional[Dict[str, Any]] = None,
        key: Optional[str] = None,
    ) -> Turn:
        """Answers what a turn waits for, and follows how it goes on."""
        context = {**(context or {}), "actionResults": list(results)}
        return self.request(agent, _request([], thread_id, context), key)

    def request(self, agent: str, body: AgentRequest, key: Optional[str] = None) -> Turn:
        """Sends a request as it is now, and follows what comes of it. Where the answer is lost, the
        same bytes are sent again under the same key."""
        path = f"/v1/agents/{quote(agent, safe='')}/stream"
        headers = {"idempotency-key": secrets.token_hex(16) if key is None else key}
        # Written once: what changes in it meanwhile would be another request under the same key.
        written = json.dumps(body).encode()
        return Turn(self._line(lambda: self._stream("POST", path, headers, written)))

    def follow(self, request_id: str, after: str = "") -> Turn:
        """Follows a request that runs, or replays one that has ended, from behind the event of an id;
        without one, from its beginning."""
        return Turn(self._line(lambda: self._again(request_id, after)), request_id, after)

    def abort(self, request_id: str) -> None:
        """Stops a request. The streams of all who follow it end with ``aborted``."""
        self.call("POST", f"/v1/requests/{quote(request_id, safe='')}/abort")

    def call(self, method: str, path: str, body: Optional[Any] = None) -> Any:
        """Asks the host anything as this client, and returns the JSON of the answer:
        ``/v1/threads`` and what is below it."""
        written = None if body is None else json.dumps(body).encode()
        response = self._ready(method, path, {}, written).answer()
        if not 200 <= response.status < 300:
            raise response.refusal()
        text = response.text()
        return json.loads(text) if text else None

    def _line(self, first: Callable[[], Request]) -> Line:
        return Line(self._patience, first, self._again, self.abort)

    def _again(self, request_id: str, last_event_id: str) -> Request:
        path = f"/v1/requests/{quote(request_id, safe='')}/stream"
        headers = {"last-event-id": last_event_id} if last_event_id else {}
        return self._stream("GET", path, headers)

    def _stream(
        self, method: str, path: str, headers: Dict[str, str], body: Optional[bytes] = None
    ) -> Request:
        return self._ready(method, path, {"accept": "text/event-stream", **headers}, body)

    def _ready(
        self, method: str, path: str, headers: Dict[str, str], body: Optional[bytes] = None
    ) -> Request:
        token = self._token if isinstance(self._token, str) else self._token()
        headers = {"authorization": f"Bearer {token}", **headers}
        return Request(self._url, method, path, headers, body, self._patience.silence)


def _request(
    messages: List[InputMessage], thread_id: Optional[str], context: Optional[Dict[str, Any]]
) -> AgentRequest:
    request: AgentRequest = {"messages": messages}
    if thread_id is not None:
        request["threadId"] = thread_id
    if context is not None:
        request["context"] = context
    return request
