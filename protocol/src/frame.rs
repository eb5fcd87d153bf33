//! The frames of a worker that answers an `llm.execute` with a stream: deltas, then the decision
//! or an error.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decision::DecisionResponse;
use crate::parse::{ParseError, parse};

/// One server-sent event of a worker's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// `llm.token.delta`: a [`StreamDelta`](crate::StreamDelta), or a raw event of the provider
    /// when the call has a format. Which it is, only the call knows.
    Delta(Value),
    /// `decision.result`: the answer. The stream is over.
    Result(DecisionResponse),
    /// `decision.error`: there is no answer. The stream is over.
    Error(DecisionError),
}

impl Frame {
    /// The event of a delta.
    pub const DELTA: &'static str = "llm.token.delta";
    /// The event of an answer.
    pub const RESULT: &'static str = "decision.result";
    /// The event of an error.
    pub const ERROR: &'static str = "decision.error";

    /// Parses one event, if its data has at most `limit` bytes.
    pub fn parse(event: &str, data: &[u8], limit: usize) -> Result<Self, FrameError> {
        match event {
            Self::DELTA => parse(data, limit).map(Self::Delta).map_err(FrameError::Delta),
            Self::RESULT => parse(data, limit).map(Self::Result).map_err(FrameError::Decision),
            Self::ERROR => parse(data, limit).map(Self::Error).map_err(FrameError::Decision),
            unknown => Err(FrameError::UnknownEvent(unknown.to_owned())),
        }
    }

    /// Returns the event that this is on the wire.
    pub fn event(&self) -> &'static str {
        match self {
            Self::Delta(_) => Self::DELTA,
            Self::Result(_) => Self::RESULT,
            Self::Error(_) => Self::ERROR,
        }
    }

    /// Returns the data that this has on the wire.
    pub fn data(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Delta(delta) => serde_json::to_string(delta),
            Self::Result(decision) => serde_json::to_string(decision),
            Self::Error(error) => serde_json::to_string(error),
        }
    }
}

/// Why a stream ends without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecisionError {
    /// What went wrong.
    pub message: String,
    /// Whether the decision may be asked again. Default: true.
    #[serde(default = "retryable", deserialize_with = "retryable_unless_stated")]
    #[schemars(with = "Option<bool>")]
    pub retryable: bool,
}

fn retryable() -> bool {
    true
}

fn retryable_unless_stated<'de, D: serde::Deserializer<'de>>(source: D) -> Result<bool, D::Error> {
    Option::deserialize(source).map(|stated| stated.unwrap_or_else(retryable))
}

/// Why an event is no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// No such event: the decision fails, and is not asked again.
    #[error(
        "unknown event `{0}`, expected one of `{delta}`, `{result}`, `{error}`",
        delta = Frame::DELTA, result = Frame::RESULT, error = Frame::ERROR
    )]
    UnknownEvent(String),
    /// A delta that cannot be read, or a provider's end mark: it is passed over.
    #[error("unreadable delta: {0}")]
    Delta(#[source] ParseError),
    /// A last frame that cannot be read: the decision fails, and is not asked again.
    #[error("unreadable decision: {0}")]
    Decision(#[source] ParseError),
}
