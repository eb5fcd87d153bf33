//! Why a worker is asked: the nine triggers.
//!
//! The record behind each one has its name: a `tool.execute` carries a [`ToolExecute`].

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::{AgentTool, Format};
use crate::message::DraftMessage;
use crate::presence;
use crate::tagged::{Tagged, tagged};

/// Why a worker is asked. Later versions may have more; a worker answers `{}` to what it does not
/// know.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Trigger {
    /// A session was created. Asked once, before anything else; the answer has the config. An
    /// empty answer leaves the session without one.
    #[serde(rename = "session.start")]
    SessionStart,
    /// A client submitted messages. An empty answer records nothing: a veto.
    #[serde(rename = "client.messages")]
    ClientMessages(ClientMessages),
    /// A client submitted an action, which is never part of the transcript. An empty answer does
    /// nothing.
    #[serde(rename = "client.action")]
    ClientAction(ClientAction),
    /// A tool call is the worker's to run, for the first time or again. An empty answer leaves it
    /// open, to be settled later.
    #[serde(rename = "tool.execute")]
    ToolExecute(ToolExecute),
    /// A tool call is over. An empty answer records nothing and does not prompt the model.
    #[serde(rename = "tool.finished")]
    ToolFinished(ToolFinished),
    /// A model call is the worker's to run, for the first time or again. An empty answer leaves it
    /// open, to be settled later.
    #[serde(rename = "llm.execute")]
    LlmExecute(LlmExecute),
    /// A model call is over. An empty answer does not record the reply.
    #[serde(rename = "llm.finished")]
    LlmFinished(LlmFinished),
    /// A sub-agent's first turn is over, or the delegation failed for good. An empty answer records
    /// nothing and does not prompt the model.
    #[serde(rename = "sub_agent.finished")]
    SubAgentFinished(SubAgentFinished),
    /// What paused the conversation was resumed. An empty answer does nothing.
    #[serde(rename = "interrupt.resumed")]
    InterruptResumed(InterruptResumed),
}

tagged!(Trigger {
    "session.start" => SessionStart,
    "client.messages" => ClientMessages(ClientMessages),
    "client.action" => ClientAction(ClientAction),
    "tool.execute" => ToolExecute(ToolExecute),
    "tool.finished" => ToolFinished(ToolFinished),
    "llm.execute" => LlmExecute(LlmExecute),
    "llm.finished" => LlmFinished(LlmFinished),
    "sub_agent.finished" => SubAgentFinished(SubAgentFinished),
    "interrupt.resumed" => InterruptResumed(InterruptResumed),
});

impl Trigger {
    /// Returns the call that this is about, if it is about one.
    pub fn call_id(&self) -> Option<&str> {
        match self {
            Self::ToolExecute(ToolExecute { id, .. })
            | Self::ToolFinished(ToolFinished { id, .. })
            | Self::LlmExecute(LlmExecute { id, .. })
            | Self::LlmFinished(LlmFinished { id, .. })
            | Self::SubAgentFinished(SubAgentFinished { id, .. }) => Some(id),
            Self::SessionStart
            | Self::ClientMessages(_)
            | Self::ClientAction(_)
            | Self::InterruptResumed(_) => None,
        }
    }

    /// Returns the attempt that is to be run, if one is.
    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::ToolExecute(ToolExecute { attempt, .. })
            | Self::LlmExecute(LlmExecute { attempt, .. }) => Some(*attempt),
            Self::SessionStart
            | Self::ClientMessages(_)
            | Self::ClientAction(_)
            | Self::ToolFinished(_)
            | Self::LlmFinished(_)
            | Self::SubAgentFinished(_)
            | Self::InterruptResumed(_) => None,
        }
    }
}

/// A client submitted messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientMessages {
    /// The client's full view of the conversation.
    pub messages: Vec<DraftMessage>,
    /// The index of the first message that would be recorded; their number when none is new.
    pub new_from: usize,
    /// What the client brings along; `{}` at least.
    pub client: ClientContext,
}

/// A client submitted an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ClientAction {
    /// What is to be done.
    pub name: String,
    /// With what; handed through as the client wrote it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub args: Option<Value>,
}

/// A tool call is the worker's to run. Deliveries repeat: side effects are keyed by id and
/// attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolExecute {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// What the engine makes of the arguments. It does not keep a worker from running the call.
    pub input: ToolInput,
    /// From 1; one more after each recorded failure.
    pub attempt: u32,
    /// When this attempt ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
}

/// A tool call is over. This is the last word about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ToolFinished {
    /// The call.
    pub id: String,
    /// Whether there is a result.
    pub ok: bool,
    /// The tool.
    pub name: String,
    /// The result as the model will read it, when ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong, when not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A model call is the worker's to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LlmExecute {
    /// The call.
    pub id: String,
    /// An `LlmRequest`, or the provider's own body when `format` is there. It never says whether
    /// to stream.
    pub request: Value,
    /// The format of `request`, and of the answer. Absent: the neutral one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Whether the worker may answer with a stream.
    pub stream: bool,
    /// From 1; one more after each recorded failure.
    pub attempt: u32,
    /// When this attempt ends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
}

/// A model call is over. This is the last word about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LlmFinished {
    /// The call.
    pub id: String,
    /// Whether there is a reply, which may be a truncated one.
    pub ok: bool,
    /// The reply, under the id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<DraftMessage>,
    /// Whether the reply was cut off for its length.
    pub truncated: bool,
    /// Tokens by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// What it cost: dollars, as a decimal string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// What went wrong, when not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its kind, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// What else is known about it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub detail: Option<Value>,
}

/// A delegation is over. This is the last word about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SubAgentFinished {
    /// The model's tool call that was delegated.
    pub id: String,
    /// Whether there is a result.
    pub ok: bool,
    /// The child's session.
    pub session_id: String,
    /// The child's agent.
    pub agent_id: String,
    /// What the child was done with, as the model will read it, when ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong, when not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What paused the conversation was resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct InterruptResumed {
    /// The interrupt.
    pub interrupt_id: String,
    /// The answer; handed through as it was given.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub payload: Option<Value>,
}

/// What the engine makes of a tool call's arguments. Nothing is coerced and no default filled in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolInput {
    /// An object that conforms to the tool's schema, or that no schema judges.
    Valid {
        /// The parsed arguments.
        value: Value,
    },
    /// An object that does not conform.
    Invalid {
        /// The parsed arguments.
        value: Value,
        /// What is wrong with them, and where.
        error: String,
    },
    /// Not a JSON object.
    Malformed {
        /// What they are instead.
        error: String,
    },
}

impl ToolInput {
    /// Every `status` that an input has.
    pub const STATUSES: &'static [&'static str] = &["valid", "invalid", "malformed"];

    /// Returns what is wrong with the arguments, if something is.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Valid { .. } => None,
            Self::Invalid { error, .. } | Self::Malformed { error } => Some(error),
        }
    }
}

impl<'de> Deserialize<'de> for ToolInput {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let mut input = Tagged::read(source, "status")?;
        match input.tag.as_str() {
            "valid" => Ok(Self::Valid { value: input.field("value")? }),
            "invalid" => {
                Ok(Self::Invalid { value: input.field("value")?, error: input.field("error")? })
            }
            "malformed" => Ok(Self::Malformed { error: input.field("error")? }),
            unknown => Err(D::Error::unknown_variant(unknown, Self::STATUSES)),
        }
    }
}

/// The kinds of error that have a name. They never decide whether a call is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The provider failed, or answered what cannot be read.
    ProviderError,
    /// The provider wants to be asked less often.
    RateLimited,
    /// The model, or a filter before it, refused.
    Refused,
    /// The budget is spent.
    BudgetExceeded,
    /// The attempt took too long.
    DeadlineExceeded,
}

/// What a client brings along with its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientContext {
    /// Tools that the client runs; laid onto the proposed config, where a name is still free.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<AgentTool>>")]
    pub tools: Vec<AgentTool>,
    /// What the client knows; handed through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Vec<Value>>,
    /// The client's own state; handed through.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub state: Option<Value>,
    /// Anything else; handed through.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub forwarded_props: Option<Value>,
}
