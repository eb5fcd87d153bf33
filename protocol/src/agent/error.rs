//! What may go wrong, as words that do not change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What went wrong. Before a stream has begun it is told with a status, afterwards by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// There is no token, or none that is good.
    AuthFailed,
    /// There is no such thread, or no such agent.
    ThreadNotFound,
    /// The thread is another owner's.
    ThreadAccessDenied,
    /// The request is not of the right form; the message names the place.
    InvalidMessageFormat,
    /// The request, or a text in it, is too large.
    MessageTooLarge,
    /// There is too much to do already.
    RateLimitExceeded,
    /// The turn has made no progress for too long. It goes on; the stream does not.
    StreamTimeout,
    /// The worker or the model failed for good.
    AgentError,
    /// A tool failed so that the turn could not go on.
    ToolError,
    /// The host failed.
    InternalError,
    /// An action that was answered is not waited for.
    InvalidActionId,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [Self; 11] = [
        Self::AuthFailed,
        Self::ThreadNotFound,
        Self::ThreadAccessDenied,
        Self::InvalidMessageFormat,
        Self::MessageTooLarge,
        Self::RateLimitExceeded,
        Self::StreamTimeout,
        Self::AgentError,
        Self::ToolError,
        Self::InternalError,
        Self::InvalidActionId,
    ];

    /// Returns the HTTP status that says the same.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::AuthFailed => 401,
            Self::ThreadNotFound => 404,
            Self::ThreadAccessDenied => 403,
            Self::InvalidMessageFormat | Self::InvalidActionId => 400,
            Self::MessageTooLarge => 413,
            Self::RateLimitExceeded => 429,
            Self::StreamTimeout => 504,
            Self::AgentError | Self::ToolError | Self::InternalError => 500,
        }
    }

    /// Says whether the same request may go well later, as far as the code alone tells.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimitExceeded | Self::StreamTimeout => true,
            Self::AuthFailed
            | Self::ThreadNotFound
            | Self::ThreadAccessDenied
            | Self::InvalidMessageFormat
            | Self::MessageTooLarge
            | Self::AgentError
            | Self::ToolError
            | Self::InternalError
            | Self::InvalidActionId => false,
        }
    }
}
