//! What a client is told of a turn.
//!
//! A block is told in stages: `start` has its place in the message, each `delta` its place in the
//! block, `stop` what is known only at the end. The fields of a stage are left out in the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::{AssistantContentBlock, ResultStatus};
use super::error::ErrorCode;
use crate::tagged::tagged;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// Which turn of which thread it is. The first event of each connection.
    Metadata(MetadataEvent),
    /// What the agent says.
    Text(TextEvent),
    /// What the model thinks.
    Thinking(TextEvent),
    /// A tool that the model calls.
    ToolCall(ToolCallEvent),
    /// How a tool call ended.
    ToolResult(ToolResultEvent),
    /// Something that the client is to do before the turn goes on.
    Continuation(ContinuationEvent),
    /// The end: the turn is over, or waits for the client.
    Done(DoneEvent),
    /// The end: the turn failed, or the stream did.
    Error(ErrorEvent),
    /// The end: the turn was aborted.
    Aborted(AbortedEvent),
}

tagged!(AgentEvent by "event" {
    "metadata" => Metadata(MetadataEvent),
    "text" => Text(TextEvent),
    "thinking" => Thinking(TextEvent),
    "tool_call" => ToolCall(ToolCallEvent),
    "tool_result" => ToolResult(ToolResultEvent),
    "continuation" => Continuation(ContinuationEvent),
    "done" => Done(DoneEvent),
    "error" => Error(ErrorEvent),
    "aborted" => Aborted(AbortedEvent),
});

impl AgentEvent {
    /// Returns the request, whose id is on every event.
    pub fn request_id(&self) -> &str {
        match self {
            Self::Metadata(event) => &event.request_id,
            Self::Text(event) | Self::Thinking(event) => &event.request_id,
            Self::ToolCall(event) => &event.request_id,
            Self::ToolResult(event) => &event.request_id,
            Self::Continuation(event) => &event.request_id,
            Self::Done(event) => &event.request_id,
            Self::Error(event) => &event.request_id,
            Self::Aborted(event) => &event.request_id,
        }
    }

    /// Returns the stage, if the event is about a block.
    pub fn stage(&self) -> Option<EventStage> {
        match self {
            Self::Text(event) | Self::Thinking(event) => Some(event.stage),
            Self::ToolCall(event) => Some(event.stage),
            Self::ToolResult(event) => Some(event.stage),
            Self::Metadata(_)
            | Self::Continuation(_)
            | Self::Done(_)
            | Self::Error(_)
            | Self::Aborted(_) => None,
        }
    }

    /// Returns the block, if the event is about one.
    pub fn block_id(&self) -> Option<&str> {
        match self {
            Self::Text(event) | Self::Thinking(event) => Some(&event.block_id),
            Self::ToolCall(event) => Some(&event.block_id),
            Self::ToolResult(event) => Some(&event.block_id),
            Self::Metadata(_)
            | Self::Continuation(_)
            | Self::Done(_)
            | Self::Error(_)
            | Self::Aborted(_) => None,
        }
    }

    /// Says whether nothing comes behind the event.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Error(_) | Self::Aborted(_))
    }
}

/// How far a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventStage {
    /// It begins.
    Start,
    /// It grows.
    Delta,
    /// It has ended. Each block that began does.
    Stop,
}

/// Why a stream is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The turn is over.
    Stop,
    /// The turn is over, and the last reply of the model was cut off.
    Length,
    /// Of the published protocol; this host says `error` by an event of that name.
    Error,
    /// The turn waits for the client: see the `continuation`s.
    ActionRequired,
}

/// Which turn of which thread a stream is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct MetadataEvent {
    /// The turn.
    pub request_id: String,
    /// The thread.
    pub thread_id: String,
    /// The agent, by its id.
    pub agent_id: String,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// Something about a block of text, or of thoughts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct TextEvent {
    /// The turn.
    pub request_id: String,
    /// The message.
    pub message_id: String,
    /// The block.
    pub block_id: String,
    /// At the start: its place in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_index: Option<u32>,
    /// How far the block is.
    pub stage: EventStage,
    /// Text to append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// With a delta: its place in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_index: Option<u32>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// Something about a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallEvent {
    /// The turn.
    pub request_id: String,
    /// The message.
    pub message_id: String,
    /// The block.
    pub block_id: String,
    /// At the start: its place in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_index: Option<u32>,
    /// How far the block is.
    pub stage: EventStage,
    /// At the start and the stop: the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// At the start and the stop: the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Text to append to the JSON of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<String>,
    /// With a delta: its place in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_index: Option<u32>,
    /// At the stop: the arguments, if what the model wrote is a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Map<String, Value>>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// Something about how a tool call ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultEvent {
    /// The turn.
    pub request_id: String,
    /// The message, which is that of the call.
    pub message_id: String,
    /// The block.
    pub block_id: String,
    /// At the start: its place in the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_index: Option<u32>,
    /// How far the block is.
    pub stage: EventStage,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// At the stop: how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ResultStatus>,
    /// At the stop: the same for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// Something that the client is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ContinuationEvent {
    /// The turn.
    pub request_id: String,
    /// What the answer names.
    pub action_id: String,
    /// What kind of thing: `tool`, `approval`, `input`, or what the agent calls it.
    pub kind: String,
    /// What is to be known about it: a `reason`, and the `payload` of the kind.
    pub payload: Map<String, Value>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// The end of a turn, or of a part of it behind which the client has to act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct DoneEvent {
    /// The turn.
    pub request_id: String,
    /// The last message; the turn, if there is none.
    pub message_id: String,
    /// The thread.
    pub thread_id: String,
    /// All blocks that count, in order.
    pub content: Vec<AssistantContentBlock>,
    /// What models used, if both counts are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Why it is done.
    pub finish_reason: FinishReason,
    /// A trace, for whoever looks into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// What models used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens that were read.
    pub prompt_tokens: u64,
    /// Tokens that were written.
    pub completion_tokens: u64,
}

/// A failure: the end of a stream, or the body of a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ErrorEvent {
    /// The turn; where there is none, what the host's log has the failure under.
    pub request_id: String,
    /// What went wrong, for people.
    pub message: String,
    /// The same as a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Whether to ask again may help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// When, in RFC 3339.
    pub timestamp: String,
}

/// The end of a turn that was aborted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct AbortedEvent {
    /// The turn.
    pub request_id: String,
    /// The message that was under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// When, in RFC 3339.
    pub timestamp: String,
}
