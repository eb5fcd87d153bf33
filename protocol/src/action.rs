//! What a worker wants done: the ten actions.
//!
//! The record behind each one has its name: a `tool.call` carries a [`ToolCall`]. Actions apply in
//! order, and each sees what those before it did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{CallHandler, RetryPolicy, ToolHandler};
use crate::llm::{LlmTool, ReasoningConfig};
use crate::message::DraftMessage;
use crate::presence;
use crate::tagged::tagged;
use crate::trigger::ErrorCode;
use crate::whole;

/// What a worker wants done. One of unknown type rejects the whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Action {
    /// Ask the model.
    #[serde(rename = "llm.call")]
    LlmCall(LlmCall),
    /// Start a tool call.
    #[serde(rename = "tool.call")]
    ToolCall(ToolCall),
    /// Settle a tool call: it succeeded.
    #[serde(rename = "tool.result")]
    ToolResult(ToolResult),
    /// Settle a tool call: it failed.
    #[serde(rename = "tool.error")]
    ToolError(Failure),
    /// Settle a model call that is the worker's: the model replied.
    #[serde(rename = "llm.result")]
    LlmResult(LlmResult),
    /// Settle a model call that is the worker's: it failed.
    #[serde(rename = "llm.error")]
    LlmError(Failure),
    /// Start a sub-agent.
    #[serde(rename = "sub_agent.spawn")]
    SubAgentSpawn(SubAgentSpawn),
    /// Send a message to another session of the same owner, as a new turn there.
    #[serde(rename = "message.send")]
    MessageSend(MessageSend),
    /// Pause the conversation until somebody answers.
    #[serde(rename = "interrupt")]
    Interrupt(Interrupt),
    /// Complete the turn.
    #[serde(rename = "done")]
    Done(Done),
}

tagged!(Action {
    "llm.call" => LlmCall(LlmCall),
    "tool.call" => ToolCall(ToolCall),
    "tool.result" => ToolResult(ToolResult),
    "tool.error" => ToolError(Failure),
    "llm.result" => LlmResult(LlmResult),
    "llm.error" => LlmError(Failure),
    "sub_agent.spawn" => SubAgentSpawn(SubAgentSpawn),
    "message.send" => MessageSend(MessageSend),
    "interrupt" => Interrupt(Interrupt),
    "done" => Done(Done),
});

impl Action {
    /// Returns the call that this starts or settles, if it names one.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::LlmCall(LlmCall { id, .. })
            | Self::ToolCall(ToolCall { id, .. })
            | Self::ToolResult(ToolResult { id, .. })
            | Self::LlmResult(LlmResult { id, .. })
            | Self::ToolError(Failure { id, .. })
            | Self::LlmError(Failure { id, .. }) => id.as_deref(),
            Self::SubAgentSpawn(SubAgentSpawn { tool_call_id, .. }) => Some(tool_call_id),
            Self::MessageSend(_) | Self::Interrupt(_) | Self::Done(_) => None,
        }
    }
}

/// Ask the model. What is omitted comes from the config that this answer sets, else from the
/// current one, else from the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LlmCall {
    /// Omitted: the engine mints one. Of a call that is under way or completed, the whole action
    /// does nothing: an id that is reused by accident loses the call. A failed one is issued
    /// again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Omitted: that of the config. Without either the answer is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The prompt as it is; no system prompt is added. Omitted: the config's system prompt and the
    /// messages of this answer, or the current path if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<DraftMessage>>,
    /// Omitted: those of the config, sub-agents included. `[]`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<LlmTool>>,
    /// Sampling temperature. Omitted: the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens that a reply may have. Omitted: the provider's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub max_completion_tokens: Option<u64>,
    /// How much the model thinks before it replies. Omitted: the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningConfig>,
    /// Whether the reply is streamed. Omitted: as the config says, else not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// How it is retried. Omitted: as the config says, else the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Who runs it. Omitted: as the config says, else the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<CallHandler>,
}

/// Start a tool call. The tool need not be declared. An id that is known already does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolCall {
    /// Omitted: the engine mints one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments: a string as it is, `null` as the empty string, anything else as compact JSON.
    pub arguments: Value,
    /// Who runs it. Omitted: the worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<ToolHandler>,
    /// How it is retried. Omitted: not at all, and without a timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
}

/// A tool call succeeded, if its result is as its tool declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolResult {
    /// The call. Omitted: that of the `tool.execute` which this answers; in any other answer that
    /// is a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The attempt. Omitted: that of the `tool.execute` which this answers, else the current one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub attempt: Option<u32>,
    /// The result: a string as it is, `null` as the empty string, anything else as compact JSON.
    pub result: Value,
}

/// A call failed: a tool call in a `tool.error`, a model call in an `llm.error`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Failure {
    /// The call. Omitted: that of the trigger which this answers and which asked to run it; in any
    /// other answer that is a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The attempt. Omitted: that of the trigger which this answers, else the current one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub attempt: Option<u32>,
    /// What went wrong, for the model to read.
    pub error: String,
    /// Whether the call's policy may try again. Default: false, the failure is final.
    #[serde(default, deserialize_with = "presence::or_default")]
    #[schemars(with = "Option<bool>")]
    pub retryable: bool,
    /// Its kind, where it has one. It is recorded and decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What else is known about it. It is recorded and decides nothing.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub detail: Option<Value>,
}

/// The model replied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LlmResult {
    /// The call. Omitted: that of the `llm.execute` which this answers; in any other answer that
    /// is a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The attempt. Omitted: that of the `llm.execute` which this answers, else the current one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub attempt: Option<u32>,
    /// An `LlmResponse`, or the provider's own body when the `llm.execute` had a format.
    pub response: Value,
}

/// Start a sub-agent in a session of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SubAgentSpawn {
    /// The child's session.
    pub session_id: String,
    /// The agent.
    pub agent_id: String,
    /// The model's tool call that is delegated.
    pub tool_call_id: String,
    /// How its creation is retried. Omitted: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
}

/// Send a message to another session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessageSend {
    /// The session. One that is spawned by now gets the message once it exists.
    pub session_id: String,
    /// The message, of role `user`.
    pub message: DraftMessage,
}

/// Pause the conversation. Model calls in flight on this branch are voided; tools and sub-agents
/// go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Interrupt {
    /// Omitted: the engine mints one. One that is open already does nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_id: Option<String>,
    /// Why, for a person to read.
    pub reason: String,
    /// What an answer needs to know. Omitted: `null`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub payload: Option<Value>,
}

/// Complete the turn. Actions after it still apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Done {
    /// What came of it. Omitted: `null`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub data: Option<Value>,
}
