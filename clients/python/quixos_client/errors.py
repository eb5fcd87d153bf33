"""Why something did not come about."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional


class RequestError(Exception):
    """The host has refused a request. Nothing of it was applied."""

    def __init__(self, status: int, body: str, retry_after: Optional[float]) -> None:
        self.status = status
        self.event: Dict[str, Any] = _parsed(body)
        """What the host says, as the protocol has it; empty if it says something else."""
        self.retry_after = retry_after
        """Seconds after which to try again, if the host says so."""
        super().__init__(self.event.get("message") or f"the host answered {status}")

    @property
    def code(self) -> Optional[str]:
        """The code of the protocol, if there is one."""
        return self.event.get("code")

    @property
    def retryable(self) -> bool:
        """Whether the same request may go through later."""
        said = self.event.get("retryable")
        return self.status == 429 or self.status >= 500 if said is None else bool(said)


class ConnectionLost(Exception):
    """A connection broke, and was not made again in time."""

    def __init__(self, message: str, request_id: Optional[str]) -> None:
        super().__init__(message)
        self.request_id = request_id
        """The request, if it is known to have begun: it goes on, and can be followed."""


def _parsed(body: str) -> Dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) and "message" in value else {}
