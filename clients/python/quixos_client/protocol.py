# @generated from the JSON Schema of the agent event protocol: protocol/tests/clients.rs
"""What goes between a client and its host."""

from typing import Any, Dict, List, Literal, TypedDict, Union


class _AgentRequest(TypedDict):
    messages: List["InputMessage"]
    """What the user says now. What was said before is known by the thread."""


class AgentRequest(_AgentRequest, total=False):
    """What a client asks of an agent."""
    threadId: str
    """The thread. Omitted: a new one."""
    context: "RequestContext"
    """What else is brought along."""


class InputMessage(TypedDict):
    """A message of a user."""
    content: List["UserContentBlock"]
    """What is said, in order."""


class UserContentBlock(TypedDict):
    """A block of what a user says. Text is all there is so far; another type is refused."""
    type: Literal["text"]
    text: str
    """The text."""


class RequestContext(TypedDict, total=False):
    """What is brought along beside messages."""
    actionResults: List["ActionResult"]
    """Answers to `continuation`s."""


class _ActionResult(TypedDict):
    actionId: str
    """What is answered."""
    kind: str
    """The kind that the `continuation` had."""
    status: "ResultStatus"
    """Whether it went well."""


class ActionResult(_ActionResult, total=False):
    """The answer to a `continuation`."""
    data: Any
    """What it brought."""
    error: str
    """What went wrong."""


ResultStatus = Literal["success", "error"]
"""Whether something went well."""


class MetadataEvent(TypedDict):
    """Which turn of which thread it is. The first event of each connection."""
    event: Literal["metadata"]
    requestId: str
    """The turn."""
    threadId: str
    """The thread."""
    agentId: str
    """The agent, by its id."""
    timestamp: str
    """When, in RFC 3339."""


class _TextEvent(TypedDict):
    event: Literal["text"]
    requestId: str
    """The turn."""
    messageId: str
    """The message."""
    blockId: str
    """The block."""
    stage: "EventStage"
    """How far the block is."""
    timestamp: str
    """When, in RFC 3339."""


class TextEvent(_TextEvent, total=False):
    """What the agent says."""
    blockIndex: int
    """At the start: its place in the message."""
    delta: str
    """Text to append."""
    deltaIndex: int
    """With a delta: its place in the block."""


class _ThinkingEvent(TypedDict):
    event: Literal["thinking"]
    requestId: str
    """The turn."""
    messageId: str
    """The message."""
    blockId: str
    """The block."""
    stage: "EventStage"
    """How far the block is."""
    timestamp: str
    """When, in RFC 3339."""


class ThinkingEvent(_ThinkingEvent, total=False):
    """What the model thinks."""
    blockIndex: int
    """At the start: its place in the message."""
    delta: str
    """Text to append."""
    deltaIndex: int
    """With a delta: its place in the block."""


class _ToolCallEvent(TypedDict):
    event: Literal["tool_call"]
    requestId: str
    """The turn."""
    messageId: str
    """The message."""
    blockId: str
    """The block."""
    stage: "EventStage"
    """How far the block is."""
    timestamp: str
    """When, in RFC 3339."""


class ToolCallEvent(_ToolCallEvent, total=False):
    """A tool that the model calls."""
    blockIndex: int
    """At the start: its place in the message."""
    toolCallId: str
    """At the start and the stop: the call."""
    tool: str
    """At the start and the stop: the tool."""
    delta: str
    """Text to append to the JSON of the arguments."""
    deltaIndex: int
    """With a delta: its place in the block."""
    args: Dict[str, Any]
    """At the stop: the arguments, if what the model wrote is a JSON object."""


class _ToolResultEvent(TypedDict):
    event: Literal["tool_result"]
    requestId: str
    """The turn."""
    messageId: str
    """The message, which is that of the call."""
    blockId: str
    """The block."""
    stage: "EventStage"
    """How far the block is."""
    timestamp: str
    """When, in RFC 3339."""


class ToolResultEvent(_ToolResultEvent, total=False):
    """How a tool call ended."""
    blockIndex: int
    """At the start: its place in the message."""
    toolCallId: str
    """The call."""
    tool: str
    """The tool."""
    status: "ResultStatus"
    """At the stop: how it ended."""
    summary: str
    """At the stop: the same for people."""


class ContinuationEvent(TypedDict):
    """Something that the client is to do before the turn goes on."""
    event: Literal["continuation"]
    requestId: str
    """The turn."""
    actionId: str
    """What the answer names."""
    kind: str
    """What kind of thing: `tool`, `approval`, `input`, or what the agent calls it."""
    payload: Dict[str, Any]
    """What is to be known about it: a `reason`, and the `payload` of the kind."""
    timestamp: str
    """When, in RFC 3339."""


class _DoneEvent(TypedDict):
    event: Literal["done"]
    requestId: str
    """The turn."""
    messageId: str
    """The last message; the turn, if there is none."""
    threadId: str
    """The thread."""
    content: List["AssistantContentBlock"]
    """All blocks that count, in order."""
    finishReason: "FinishReason"
    """Why it is done."""
    timestamp: str
    """When, in RFC 3339."""


class DoneEvent(_DoneEvent, total=False):
    """The end: the turn is over, or waits for the client."""
    usage: "TokenUsage"
    """What models used, if both counts are known."""
    traceId: str
    """A trace, for whoever looks into it."""


class _ErrorEvent(TypedDict):
    event: Literal["error"]
    requestId: str
    """The turn; where there is none, what the host's log has the failure under."""
    message: str
    """What went wrong, for people."""
    timestamp: str
    """When, in RFC 3339."""


class ErrorEvent(_ErrorEvent, total=False):
    """The end: the turn failed, or the stream did."""
    code: "ErrorCode"
    """The same as a word."""
    retryable: bool
    """Whether to ask again may help."""


class _AbortedEvent(TypedDict):
    event: Literal["aborted"]
    requestId: str
    """The turn."""
    timestamp: str
    """When, in RFC 3339."""


class AbortedEvent(_AbortedEvent, total=False):
    """The end: the turn was aborted."""
    messageId: str
    """The message that was under way."""


AgentEvent = Union[
    "MetadataEvent",
    "TextEvent",
    "ThinkingEvent",
    "ToolCallEvent",
    "ToolResultEvent",
    "ContinuationEvent",
    "DoneEvent",
    "ErrorEvent",
    "AbortedEvent",
]
"""An event of a stream."""


EventStage = Literal["start", "delta", "stop"]
"""How far a block is."""


class AssistantContentBlockText(TypedDict):
    type: Literal["text"]
    text: str
    """The text."""


class AssistantContentBlockThinking(TypedDict):
    type: Literal["thinking"]
    text: str
    """The text."""


class AssistantContentBlockToolUse(TypedDict):
    type: Literal["tool_use"]
    toolCallId: str
    """The call, which its result names."""
    tool: str
    """The tool."""
    args: Dict[str, Any]
    """What it is called with; empty where the model wrote no JSON object."""


class _AssistantContentBlockToolResult(TypedDict):
    type: Literal["tool_result"]
    toolCallId: str
    """The call."""
    tool: str
    """The tool."""
    status: "ResultStatus"
    """How."""


class AssistantContentBlockToolResult(_AssistantContentBlockToolResult, total=False):
    summary: str
    """The same for people, if there is more to say."""


AssistantContentBlock = Union[
    "AssistantContentBlockText",
    "AssistantContentBlockThinking",
    "AssistantContentBlockToolUse",
    "AssistantContentBlockToolResult",
]
"""A block of what an agent says, thinks and does."""


class TokenUsage(TypedDict):
    """What models used."""
    promptTokens: int
    """Tokens that were read."""
    completionTokens: int
    """Tokens that were written."""


FinishReason = Literal["stop", "length", "error", "action_required"]
"""Why a stream is done."""


ErrorCode = Literal["auth_failed", "thread_not_found", "thread_access_denied", "invalid_message_format", "message_too_large", "rate_limit_exceeded", "stream_timeout", "agent_error", "tool_error", "internal_error", "invalid_action_id"]
"""What went wrong. Before a stream has begun it is told with a status, afterwards by an event."""
