"""What a turn has said, put together from its events.

The events may have come over several connections. After a reconnect, a block that was open is sent
again from its start: what was there of it is dropped. When ``done`` comes, its ``content`` is what
counts; it leaves out what a failed attempt of the model had said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .protocol import AgentEvent, AssistantContentBlock, ContinuationEvent

_BLOCKS = ("text", "thinking", "tool_call", "tool_result")
_TERMINAL = ("done", "error", "aborted")


@dataclass
class Block:
    """A block while it grows, and once it has stopped."""

    block_id: str
    message_id: str
    kind: str
    text: str = ""
    """The text so far; of a tool call, the JSON of its arguments as the model writes it."""
    open: bool = True
    """Whether more may come."""
    tool_call_id: str = ""
    tool: str = ""
    args: Optional[Dict[str, Any]] = None
    """The arguments of a tool call that has stopped, if they could be parsed."""
    status: str = "success"
    summary: Optional[str] = None
    _next: int = 0


class Content:
    """What a turn has said so far."""

    def __init__(self) -> None:
        self.blocks: List[Block] = []
        """The blocks, in the order in which they began."""
        self.continuations: List[ContinuationEvent] = []
        """What the turn waits for: one for each thing that the client is to do."""
        self.end: Optional[AgentEvent] = None
        """The event that ended the stream."""

    @property
    def content(self) -> List[AssistantContentBlock]:
        """The content as ``done`` has it: that of ``done``, or what there is until then."""
        if self.end is not None and self.end["event"] == "done":
            return self.end["content"]
        return [_content(block) for block in self.blocks if block.text or not block.open]

    @property
    def text(self) -> str:
        """The text of the turn, without thoughts and tools."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    def apply(self, event: AgentEvent) -> bool:
        """Takes an event. Returns ``False`` if something is missing before it: then the stream is to
        be read again from the last id, and the event has changed nothing."""
        name = event["event"]
        if name in _BLOCKS:
            return self._block(event)
        if name == "continuation":
            if all(known["actionId"] != event["actionId"] for known in self.continuations):
                self.continuations.append(event)
        elif name in _TERMINAL:
            self.end = event
        return True

    def _block(self, event: Any) -> bool:
        block_id = event["blockId"]
        at = next((i for i, it in enumerate(self.blocks) if it.block_id == block_id), None)
        if event["stage"] == "start":
            block = Block(block_id, event["messageId"], event["event"])
            block.tool_call_id = event.get("toolCallId") or ""
            block.tool = event.get("tool") or ""
            if at is None:
                self.blocks.append(block)
            else:
                self.blocks[at] = block
            return True
        if at is None:
            return False
        block = self.blocks[at]
        if event["stage"] == "delta":
            index = event.get("deltaIndex", block._next)
            if index > block._next:
                return False
            if index == block._next:
                block.text += event.get("delta") or ""
                block._next += 1
            return True
        block.open = False
        block.args = event.get("args")
        block.status = event.get("status") or "success"
        block.summary = event.get("summary")
        return True


def _content(block: Block) -> AssistantContentBlock:
    if block.kind in ("text", "thinking"):
        return {"type": block.kind, "text": block.text}
    call = {"toolCallId": block.tool_call_id, "tool": block.tool}
    if block.kind == "tool_call":
        return {"type": "tool_use", **call, "args": block.args or {}}
    result = {"type": "tool_result", **call, "status": block.status}
    return result if block.summary is None else {**result, "summary": block.summary}
