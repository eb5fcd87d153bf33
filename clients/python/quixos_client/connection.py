"""One connection, and what is done when it breaks."""

from __future__ import annotations

import http.client
import random
import socket
import ssl
from dataclasses import dataclass
from typing import Dict, Iterator, Optional
from urllib.parse import urlsplit

from .errors import RequestError
from .sse import Frame, SseParser

# What a broken connection looks like, at whichever point it breaks.
BROKEN = (OSError, http.client.HTTPException)

# What of it no further try mends, where the first one meets it.
UNREACHABLE = (ssl.SSLCertVerificationError, socket.gaierror)


@dataclass(frozen=True)
class Patience:
    """How a client comes back when a connection has broken."""

    first: float = 0.25
    """Seconds before the first try; each further one waits twice as long."""
    longest: float = 10.0
    """The longest wait, in seconds."""
    tries: int = 12
    """How many tries in a row may fail."""
    silence: float = 45.0
    """After how many seconds without a byte a connection counts as broken. The host sends something
    every 15 seconds."""
    unanswered: int = 4
    """How many of the tries may fail while the host has not answered once: it may not be there at
    all."""

    def wait(self, attempt: int) -> float:
        """Returns the wait before a try, counted from 1: somewhere in the upper half of what it may
        be, so that many clients of one host do not come back at once."""
        most = min(self.longest, self.first * 2 ** (attempt - 1))
        return most * random.uniform(0.5, 1.0)


class Response:
    """A response, and the connection that it comes over."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._response = connection.getresponse()
        self.status = self._response.status

    def text(self) -> str:
        """Returns the whole body."""
        try:
            return self._response.read().decode("utf-8", "replace")
        finally:
            self.close()

    def frames(self, parser: SseParser) -> Iterator[Frame]:
        """Reads the events until the body ends, breaks, or is silent for too long."""
        while True:
            chunk = self._response.read1(65536)
            if not chunk:
                return
            yield from parser.push(chunk)

    def refusal(self) -> RequestError:
        """Returns what a response that is not good says."""
        after = self._response.getheader("retry-after") or ""
        return RequestError(self.status, self.text(), float(after) if after.isdigit() else None)

    def close(self) -> None:
        """Leaves."""
        self._response.close()
        self._connection.close()


class Request:
    """A request that is ready to go, over a connection of its own. What can never go out is refused
    when it is made."""

    def __init__(
        self,
        url: str,
        method: str,
        path: str,
        headers: Dict[str, str],
        body: Optional[bytes] = None,
        timeout: float = 45.0,
    ) -> None:
        parts = urlsplit(url)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if parts.scheme not in kinds or parts.hostname is None:
            raise ValueError(f"not the address of a host: {url!r}")
        if body is not None:
            headers = {**headers, "content-type": "application/json"}
        if method != "GET":
            headers = {**headers, "content-length": str(len(body or b""))}
        self._body = body
        self._connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=timeout)
        self._connection.putrequest(method, parts.path.rstrip("/") + path)
        for name, value in headers.items():
            self._connection.putheader(name, value)

    def answer(self) -> Response:
        """Sends it, and returns what the host says to it."""
        try:
            self._connection.endheaders(self._body)
            return Response(self._connection)
        except BaseException:
            self._connection.close()
            raise
