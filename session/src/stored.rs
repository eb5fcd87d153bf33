//! What the payloads of the log hold, where more than one place reads them.
//!
//! A trigger is kept once, on the event that queued its decision, and what it can be made of again
//! is left out: an input is expanded against the tree when it is delivered, a call's trigger is
//! read from the events of the call. A list of messages is kept as the stretches of the tree that
//! it goes along, so that a session grows with its messages and not with their square.

use quixos_protocol::{
    AgentConfig, ClientContext, DraftMessage, ErrorCode, Format, ReasoningConfig, RetryPolicy,
};
use quixos_runtime::CallError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::past::Past;
use crate::sessions::{CallData, DecisionData};

/// A list of messages, as it is kept.
pub(crate) type Messages = Vec<Stretch>;

/// A part of a list of messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stretch {
    /// The messages of the tree below `from`, which is the root if it is absent, down to `to`.
    Path {
        /// The message above the first.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        from: Option<String>,
        /// The last message.
        to: String,
    },
    /// A message that is not in the tree, or is there with other content: the digest of its JSON.
    Text(String),
}

/// What a decision is raised for, as the log keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
pub(crate) enum StoredTrigger {
    /// The session begins; `config` is what the host had configured for its agent at that moment.
    #[serde(rename = "session.start")]
    SessionStart {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        config: Option<AgentConfig>,
    },
    /// One message, to be appended at the head that there is at delivery.
    #[serde(rename = "client.message")]
    ClientMessage { message: DraftMessage },
    /// A whole view, echoes folded.
    #[serde(rename = "client.messages")]
    ClientMessages { messages: Messages, client: ClientContext },
    /// Results of calls and new messages, to be appended at the head that there is at delivery.
    #[serde(rename = "client.appended")]
    ClientAppended { messages: Messages, client: ClientContext },
    #[serde(rename = "client.action")]
    ClientAction {
        name: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        args: Option<Value>,
    },
    #[serde(rename = "tool.execute")]
    ToolExecute { id: String, attempt: u32 },
    #[serde(rename = "tool.finished")]
    ToolFinished { id: String },
    #[serde(rename = "llm.execute")]
    LlmExecute { id: String, attempt: u32 },
    #[serde(rename = "llm.finished")]
    LlmFinished { id: String },
    #[serde(rename = "sub_agent.finished")]
    SubAgentFinished { id: String },
    #[serde(rename = "interrupt.resumed")]
    InterruptResumed { interrupt_id: String, payload: Value },
}

impl StoredTrigger {
    /// Returns what the host had configured when the session began, if this is its begin.
    pub(crate) fn configured(&self) -> Option<&AgentConfig> {
        if let Self::SessionStart { config } = self { config.as_ref() } else { None }
    }
}

/// What a call asks for: the payload of its `*.requested` event, beside `call_id`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum StoredCall {
    /// A call of a tool.
    ToolCall {
        name: String,
        /// The raw text of the arguments.
        arguments: String,
    },
    /// A call of a model.
    LlmCall {
        model: String,
        prompt: Messages,
        /// The digest of the tools that are offered, as a JSON array; none if the field is absent.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tools: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        temperature: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max_completion_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reasoning: Option<ReasoningConfig>,
        stream: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        format: Option<Format>,
        retry: RetryPolicy,
    },
    /// A delegation.
    SubAgent { session_id: String, agent_id: String },
}

/// How a call ended: the payload of its `*.completed` or `*.errored` event, beside `call_id` and
/// `attempt`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum StoredOutcome {
    /// A tool or a sub-agent answered.
    Result { result: String },
    /// A model answered.
    Reply {
        message: DraftMessage,
        truncated: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        usage: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost: Option<String>,
    },
    /// It failed.
    Error {
        error: String,
        retryable: bool,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<ErrorCode>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        detail: Option<Value>,
    },
}

impl StoredTrigger {
    /// Returns the `type` that the trigger has on the wire.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::SessionStart { .. } => SESSION_START,
            Self::ClientMessage { .. }
            | Self::ClientMessages { .. }
            | Self::ClientAppended { .. } => CLIENT_MESSAGES,
            Self::ClientAction { .. } => "client.action",
            Self::ToolExecute { .. } => TOOL_EXECUTE,
            Self::ToolFinished { .. } => TOOL_FINISHED,
            Self::LlmExecute { .. } => LLM_EXECUTE,
            Self::LlmFinished { .. } => LLM_FINISHED,
            Self::SubAgentFinished { .. } => SUB_AGENT_FINISHED,
            Self::InterruptResumed { .. } => "interrupt.resumed",
        }
    }
}

/// The kind of decision that begins a session.
pub(crate) const SESSION_START: &str = "session.start";
/// The kind of decision about what a client submitted.
pub(crate) const CLIENT_MESSAGES: &str = "client.messages";
/// The kind of decision that runs a tool call.
pub(crate) const TOOL_EXECUTE: &str = "tool.execute";
/// The kind of decision that tells of the end of a tool call.
pub(crate) const TOOL_FINISHED: &str = "tool.finished";
/// The kind of decision that runs a model call.
pub(crate) const LLM_EXECUTE: &str = "llm.execute";
/// The kind of decision that tells of the end of a model call.
pub(crate) const LLM_FINISHED: &str = "llm.finished";
/// The kind of decision that tells of the end of a delegation.
pub(crate) const SUB_AGENT_FINISHED: &str = "sub_agent.finished";

/// Returns what a decision is asked for.
pub(crate) fn trigger_of(
    past: &impl Past,
    decision: &DecisionData,
) -> Result<StoredTrigger, CallError> {
    let mut payload = payload_at(past, decision.queued)?;
    read(payload.get_mut("trigger").map(Value::take).unwrap_or_default(), "a trigger")
}

/// Returns what a call asks for.
pub(crate) fn call_of(past: &impl Past, call: &CallData) -> Result<StoredCall, CallError> {
    read(payload_at(past, call.requested)?, "a call")
}

/// Returns how a call ended, if it did and was not voided.
pub(crate) fn outcome_of(
    past: &impl Past,
    call: &CallData,
) -> Result<Option<StoredOutcome>, CallError> {
    let Some(ended) = call.ended else { return Ok(None) };
    read(payload_at(past, ended)?, "an outcome").map(Some)
}

/// Reads JSON that was written here.
pub(crate) fn read<T: DeserializeOwned>(value: Value, what: &str) -> Result<T, CallError> {
    serde_json::from_value(value)
        .map_err(|error| CallError::Corrupt { message: format!("stored as {what}: {error}") })
}

/// Reads the text of JSON that was written here.
pub(crate) fn read_text<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, CallError> {
    serde_json::from_str(text)
        .map_err(|error| CallError::Corrupt { message: format!("stored as {what}: {error}") })
}

/// Returns a value as JSON.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<Value, CallError> {
    serde_json::to_value(value).map_err(|error| unwritable(&error))
}

/// Returns a value as the text of JSON.
pub(crate) fn json_text<T: Serialize>(value: &T) -> Result<String, CallError> {
    serde_json::to_string(value).map_err(|error| unwritable(&error))
}

fn unwritable(error: &serde_json::Error) -> CallError {
    CallError::invalid("$", format!("cannot be written as JSON: {error}"))
}

fn payload_at(past: &impl Past, offset: u64) -> Result<Value, CallError> {
    let event = past.event(offset)?.ok_or_else(|| CallError::Corrupt {
        message: format!("the log has no event at offset {offset}"),
    })?;
    read_text(&event.payload, "the payload of an event")
}
