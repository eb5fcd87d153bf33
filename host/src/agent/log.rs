//! The entries of a session's log that matter to those who follow a turn, as values.
//!
//! An entry of a kind that is not known here, or of another turn, tells a client nothing.

use chrono::{DateTime, SecondsFormat, Utc};
use quixos_protocol::{DraftMessage, Message};
use quixos_runtime::{CallError, Event};
use quixos_session::sessions::SessionEvent;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// An entry of the log.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its place: 0, 1, 2 …
    pub(crate) offset: u64,
    /// When it was committed, in RFC 3339.
    pub(crate) instant: String,
    /// What happened.
    pub(crate) logged: Logged,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Logged {
    /// A turn began; the trace that it belongs to, if its client said one.
    TurnStarted { trace: Option<String> },
    /// A turn ended; why, if it did not end well.
    TurnCompleted { error: Option<String> },
    /// A turn waits for its client, and for nobody else.
    TurnWaiting { actions: Vec<Action> },
    /// A model is to be called.
    ModelRequested { call: String },
    /// A model that streams began a block.
    BlockStarted(BlockStarted),
    /// A block ended before its attempt did, or with an attempt that failed.
    BlockStopped(BlockStopped),
    /// A model replied.
    ModelReplied(Box<Replied>),
    /// An attempt of a call failed.
    AttemptFailed(AttemptFailed),
    /// A call of a tool, or a delegation, has a result.
    CallEnded { call: String, result: String },
    /// A call was called off.
    CallVoided { call: String, cancelled: bool },
    /// A message was recorded.
    MessageRecorded(Box<Message>),
    /// The worker is to be asked something.
    DecisionQueued { decision: String, trigger: String, call: Option<String> },
    /// The worker answered.
    DecisionCompleted { decision: String },
    /// The worker is not asked any more.
    DecisionDropped { decision: String },
    /// The worker did not answer; for good, if it is not asked again.
    DecisionErrored { decision: String, retryable: bool, for_good: bool },
    /// Something that clients are not told of.
    Other,
}

/// Something that a turn waits for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Action {
    /// The interrupt, or the call that the client runs.
    pub(crate) action_id: String,
    /// What it is.
    #[serde(flatten)]
    pub(crate) asked: Asked,
}

/// What a client is asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Asked {
    /// To run a tool.
    ToolCall { name: String, arguments: String },
    /// To answer a question.
    Interrupt { reason: String, payload: Value },
}

/// A block of a reply that begins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct BlockStarted {
    pub(crate) call_id: String,
    pub(crate) attempt: u32,
    pub(crate) index: u32,
    pub(crate) kind: BlockKind,
    #[serde(default)]
    pub(crate) tool_call_id: Option<String>,
    #[serde(default)]
    pub(crate) name: Option<String>,
}

/// What a block of a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockKind {
    Text,
    Reasoning,
    ToolCall,
}

/// A block of a reply that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct BlockStopped {
    pub(crate) call_id: String,
    pub(crate) attempt: u32,
    pub(crate) index: u32,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

impl BlockStopped {
    /// Returns all that the block says.
    pub(crate) fn said(self) -> Option<String> {
        self.text.or(self.arguments)
    }
}

/// A reply of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Replied {
    pub(crate) call_id: String,
    pub(crate) attempt: u32,
    pub(crate) message: DraftMessage,
    #[serde(default)]
    pub(crate) truncated: bool,
    #[serde(default)]
    pub(crate) usage: Option<Value>,
}

/// An attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct AttemptFailed {
    pub(crate) call_id: String,
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) code: Option<String>,
    /// When the next one is; none follows if this is absent.
    #[serde(default)]
    pub(crate) retry_at: Option<String>,
}

#[derive(Deserialize)]
struct OfCall {
    call_id: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    result: Option<String>,
}

#[derive(Deserialize)]
struct OfDecision {
    decision_id: String,
    #[serde(default)]
    trigger: Option<OfTrigger>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    retryable: bool,
    #[serde(default)]
    retry_at: Option<String>,
}

#[derive(Deserialize)]
struct OfTrigger {
    r#type: String,
}

#[derive(Deserialize)]
struct OfMessage {
    message: Message,
}

#[derive(Deserialize)]
struct OfTurn {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    actions: Vec<Action>,
    #[serde(default)]
    trace: Option<String>,
}

impl Entry {
    /// Reads an entry as it is stored: of one turn, if one is named. What is said in those of other
    /// turns is not looked at.
    pub(crate) fn read(event: &Event, turn: Option<&str>) -> Result<Self, CallError> {
        let stored: SessionEvent = event.decode()?;
        let logged = if turn.is_none() || stored.turn.as_deref() == turn {
            Logged::read(&stored.r#type, &stored.payload)?
        } else {
            Logged::Other
        };
        Ok(Self { offset: event.offset, instant: instant(event.instant), logged })
    }
}

impl Entry {
    /// Returns the entry that says that a message was recorded, as far as that tells anything.
    pub(crate) fn recorded(message: Message) -> Self {
        let logged = Logged::MessageRecorded(Box::new(message));
        Self { offset: 0, instant: String::new(), logged }
    }
}

/// Returns an instant as events have it.
pub(crate) fn instant(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}

impl Logged {
    /// Returns the model call that is spoken of, if it is one that says something.
    pub(crate) fn call(&self) -> Option<&str> {
        match self {
            Self::ModelRequested { call } | Self::CallVoided { call, .. } => Some(call),
            Self::BlockStarted(started) => Some(&started.call_id),
            Self::BlockStopped(stopped) => Some(&stopped.call_id),
            Self::ModelReplied(replied) => Some(&replied.call_id),
            Self::AttemptFailed(failed) => Some(&failed.call_id),
            Self::TurnStarted { .. }
            | Self::TurnCompleted { .. }
            | Self::TurnWaiting { .. }
            | Self::CallEnded { .. }
            | Self::MessageRecorded(_)
            | Self::DecisionQueued { .. }
            | Self::DecisionCompleted { .. }
            | Self::DecisionDropped { .. }
            | Self::DecisionErrored { .. }
            | Self::Other => None,
        }
    }

    /// Reads what happened.
    pub(crate) fn read(kind: &str, payload: &str) -> Result<Self, CallError> {
        Ok(match kind {
            "turn.started" => Self::TurnStarted { trace: read::<OfTurn>(payload)?.trace },
            "turn.completed" => Self::TurnCompleted { error: read::<OfTurn>(payload)?.error },
            "turn.waiting" => Self::TurnWaiting { actions: read::<OfTurn>(payload)?.actions },
            "llm.call.requested" => Self::ModelRequested { call: read::<OfCall>(payload)?.call_id },
            "llm.block.started" => Self::BlockStarted(read(payload)?),
            "llm.block.stopped" => Self::BlockStopped(read(payload)?),
            "llm.call.completed" => Self::ModelReplied(Box::new(read(payload)?)),
            "llm.call.errored" | "tool.call.errored" | "sub_agent.errored" => {
                Self::AttemptFailed(read(payload)?)
            }
            "tool.call.completed" | "sub_agent.turn_completed" => {
                let OfCall { call_id, result, .. } = read(payload)?;
                Self::CallEnded { call: call_id, result: result.unwrap_or_default() }
            }
            "call.voided" => {
                let OfCall { call_id, reason, .. } = read(payload)?;
                let cancelled = reason.as_deref() == Some("cancelled");
                Self::CallVoided { call: call_id, cancelled }
            }
            "message.new" => Self::MessageRecorded(Box::new(read::<OfMessage>(payload)?.message)),
            "decision.queued" => {
                let OfDecision { decision_id, trigger, call_id, .. } = read(payload)?;
                let trigger = trigger.map(|trigger| trigger.r#type).unwrap_or_default();
                Self::DecisionQueued { decision: decision_id, trigger, call: call_id }
            }
            "decision.completed" => {
                Self::DecisionCompleted { decision: read::<OfDecision>(payload)?.decision_id }
            }
            "decision.dropped" => {
                Self::DecisionDropped { decision: read::<OfDecision>(payload)?.decision_id }
            }
            "decision.errored" => {
                let OfDecision { decision_id, retryable, retry_at, .. } = read(payload)?;
                let for_good = retry_at.is_none();
                Self::DecisionErrored { decision: decision_id, retryable, for_good }
            }
            _ => Self::Other,
        })
    }
}

fn read<T: DeserializeOwned>(payload: &str) -> Result<T, CallError> {
    serde_json::from_str(payload).map_err(|error| CallError::Corrupt {
        message: format!("an entry of a session's log: {error}"),
    })
}
