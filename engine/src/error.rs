//! Why the engine did not do what it was asked.

use quixos_runtime::CallError;
use quixos_session::Refusal;

/// Why the engine did not do what it was asked. Nothing was changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The session refuses.
    #[error("refused: {0}")]
    Refused(Refusal),
    /// A value is not as it has to be.
    #[error("invalid at `{path}`: {message}")]
    Invalid {
        /// Where.
        path: String,
        /// What was wrong and what would be right.
        message: String,
    },
    /// What was named is not there.
    #[error("not found: {0}")]
    NotFound(String),
    /// The runtime could not do it.
    #[error(transparent)]
    Call(CallError),
}

impl EngineError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.word(),
            Self::Invalid { .. } => "invalid",
            Self::NotFound(_) => "not-found",
            Self::Call(error) => error.code(),
        }
    }
}

impl From<CallError> for EngineError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused { reason } => match reason.parse() {
                Ok(refusal) => Self::Refused(refusal),
                Err(_) => Self::Refused(Refusal::NotAdmitted(reason)),
            },
            CallError::Invalid { path, message } => Self::Invalid { path, message },
            CallError::NotFound { what } => Self::NotFound(what),
            error @ (CallError::Conflict { .. }
            | CallError::Busy { .. }
            | CallError::StaleFence { .. }
            | CallError::StaleVersion { .. }
            | CallError::Capability(_)
            | CallError::Limit { .. }
            | CallError::Unavailable { .. }
            | CallError::Storage { .. }
            | CallError::Corrupt { .. }) => Self::Call(error),
        }
    }
}
