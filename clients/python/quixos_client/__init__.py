"""A client of agents behind a Quixos host. It needs nothing but the standard library."""

from .client import Client
from .connection import Patience
from .content import Block, Content
from .errors import ConnectionLost, RequestError
from .turn import Turn

__all__ = ["Block", "Client", "ConnectionLost", "Content", "Patience", "RequestError", "Turn"]
