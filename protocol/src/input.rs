//! What a client may submit.
//!
//! The record behind each input has its name: a `tool.result` carries a [`ToolResult`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::DraftMessage;
use crate::presence;
use crate::tagged::tagged;
use crate::trigger::ClientContext;
use crate::whole;

/// What a client submits. It is accepted or refused as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum ClientInput {
    /// One message, which begins a turn at the head of the conversation.
    #[serde(rename = "client.message")]
    ClientMessage(ClientMessage),
    /// The client's full view of the conversation, which begins a turn where the view is new, or
    /// settles the client's tool calls that it answers.
    #[serde(rename = "client.messages")]
    ClientMessages(ClientMessages),
    /// An action, which begins a turn and is not part of the transcript.
    #[serde(rename = "client.action")]
    ClientAction(ClientAction),
    /// The answer to an interrupt.
    #[serde(rename = "interrupt.resume")]
    InterruptResume(InterruptResume),
    /// The result of a tool call that is the client's to run.
    #[serde(rename = "tool.result")]
    ToolResult(ToolResult),
    /// The failure of a tool call that is the client's to run.
    #[serde(rename = "tool.error")]
    ToolError(ToolError),
}

tagged!(ClientInput {
    "client.message" => ClientMessage(ClientMessage),
    "client.messages" => ClientMessages(ClientMessages),
    "client.action" => ClientAction(ClientAction),
    "interrupt.resume" => InterruptResume(InterruptResume),
    "tool.result" => ToolResult(ToolResult),
    "tool.error" => ToolError(ToolError),
});

impl ClientInput {
    /// Returns the agent that is spoken to; those that continue a turn name none.
    pub fn agent_id(&self) -> Option<&str> {
        match self {
            Self::ClientMessage(ClientMessage { agent_id, .. })
            | Self::ClientMessages(ClientMessages { agent_id, .. })
            | Self::ClientAction(ClientAction { agent_id, .. }) => Some(agent_id),
            Self::InterruptResume(_) | Self::ToolResult(_) | Self::ToolError(_) => None,
        }
    }

    /// Returns the turn that the client wants begun under this id, if it gave one.
    pub fn turn_id(&self) -> Option<&str> {
        match self {
            Self::ClientMessage(ClientMessage { turn_id, .. })
            | Self::ClientMessages(ClientMessages { turn_id, .. })
            | Self::ClientAction(ClientAction { turn_id, .. }) => turn_id.as_deref(),
            Self::InterruptResume(_) | Self::ToolResult(_) | Self::ToolError(_) => None,
        }
    }

    /// Returns the tool call that this settles, if it settles one.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::ToolResult(ToolResult { id, .. }) | Self::ToolError(ToolError { id, .. }) => {
                Some(id)
            }
            Self::ClientMessage(_)
            | Self::ClientMessages(_)
            | Self::ClientAction(_)
            | Self::InterruptResume(_) => None,
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientMessage {
    /// The agent.
    pub agent_id: String,
    /// The idempotency key of the turn, within its session. Omitted: the engine mints one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The message, of role `user`.
    pub message: DraftMessage,
    /// Whether replies of this turn are streamed. Omitted: as the config says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
}

/// A full view of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientMessages {
    /// The agent.
    pub agent_id: String,
    /// The idempotency key of the turn, within its session. Omitted: the engine mints one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The view. What is left out at its end is regenerated; what is new forks.
    pub messages: Vec<DraftMessage>,
    /// Whether replies of this turn are streamed. Omitted: as the config says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// What the client brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientContext>,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientAction {
    /// The agent.
    pub agent_id: String,
    /// The idempotency key of the turn, within its session. Omitted: the engine mints one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// What is to be done.
    pub name: String,
    /// With what; handed to the worker as it is.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub args: Option<Value>,
}

/// The answer to an interrupt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InterruptResume {
    /// The interrupt. One that is resumed already does nothing.
    pub interrupt_id: String,
    /// The answer; handed to the worker as it is.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub payload: Option<Value>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolResult {
    /// The call.
    pub id: String,
    /// The attempt. Omitted: the current one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub attempt: Option<u32>,
    /// The result: a string as it is, `null` or omitted as the empty string, anything else as
    /// compact JSON.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub result: Option<Value>,
}

/// The failure of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolError {
    /// The call.
    pub id: String,
    /// What went wrong, for the model to read.
    pub error: String,
    /// Whether the call's policy may try again. Required.
    pub retryable: bool,
    /// The attempt. Omitted: the current one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    pub attempt: Option<u32>,
}
