//! What a client asks: news for a thread, answers to what a turn waits for, or both.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::{InputMessage, ResultStatus};
use super::error::ErrorCode;
use crate::parse::{ParseError, parse};
use crate::presence;

/// What a client asks of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentRequest {
    /// What the user says now. What was said before is known by the thread.
    pub messages: Vec<InputMessage>,
    /// The thread. Omitted: a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// What else is brought along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RequestContext>,
}

/// What is brought along beside messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestContext {
    /// Answers to `continuation`s.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "presence::or_default"
    )]
    #[schemars(with = "Option<Vec<ActionResult>>")]
    pub action_results: Vec<ActionResult>,
    /// Anything else, for the agent's worker.
    #[serde(flatten)]
    pub forwarded: Map<String, Value>,
}

/// The answer to a `continuation`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionResult {
    /// What is answered.
    pub action_id: String,
    /// The kind that the `continuation` had.
    pub kind: String,
    /// Whether it went well.
    pub status: ResultStatus,
    /// What it brought.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "presence::given"
    )]
    pub data: Option<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How large a request may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Bytes of the whole.
    pub body: usize,
    /// Bytes of the texts of one message.
    pub text: usize,
}

/// Why bytes are no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// They are not of its form, or too many.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A message is too long.
    #[error("`{path}`: {size} bytes of text, where at most {limit} are taken")]
    TooLong {
        /// Which, as a JSON pointer.
        path: String,
        /// How long it is.
        size: usize,
        /// How long it might be.
        limit: usize,
    },
}

impl RequestError {
    /// Returns the code that says the same.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Parse(ParseError::TooLarge { .. }) | Self::TooLong { .. } => {
                ErrorCode::MessageTooLarge
            }
            Self::Parse(ParseError::Malformed { .. } | ParseError::Shape { .. }) => {
                ErrorCode::InvalidMessageFormat
            }
        }
    }
}

impl AgentRequest {
    /// Reads a request, and checks what its shape alone does not say: something is asked, every
    /// message says something, and nothing is answered twice.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
    pub fn read(bytes: &[u8], limits: RequestLimits) -> Result<Self, RequestError> {
        let request: Self = parse(bytes, limits.body)?;
        request.check(limits.text)?;
        Ok(request)
    }

    /// Returns the answers that are given.
    #[must_use]
    pub fn action_results(&self) -> &[ActionResult] {
        self.context.as_ref().map(|context| context.action_results.as_slice()).unwrap_or_default()
    }

    fn check(&self, limit: usize) -> Result<(), RequestError> {
        if self.thread_id.as_deref().is_some_and(|thread| thread.trim().is_empty()) {
            return Err(fault("/threadId", "is blank: leave it out to begin a new thread"));
        }
        if self.messages.is_empty() && self.action_results().is_empty() {
            return Err(fault("/messages", "there is no message, and no action result either"));
        }
        for (at, message) in self.messages.iter().enumerate() {
            let path = format!("/messages/{at}/content");
            let texts = message.content.iter().map(|block| block.as_text());
            let (size, says) = texts.fold((0_usize, false), |(size, says), text| {
                (size.saturating_add(text.len()), says || !text.trim().is_empty())
            });
            if !says {
                return Err(fault(path, "says nothing"));
            }
            if size > limit {
                return Err(RequestError::TooLong { path, size, limit });
            }
        }
        let mut answered = HashSet::new();
        for (at, result) in self.action_results().iter().enumerate() {
            let path = format!("/context/actionResults/{at}/actionId");
            if result.action_id.is_empty() {
                return Err(fault(path, "is empty"));
            }
            if !answered.insert(result.action_id.as_str()) {
                return Err(fault(path, format!("`{}` is answered twice", result.action_id)));
            }
        }
        Ok(())
    }
}

fn fault(path: impl Into<String>, message: impl Into<String>) -> RequestError {
    ParseError::Shape { path: path.into(), message: message.into() }.into()
}
