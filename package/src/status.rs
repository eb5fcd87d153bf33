//! The words for how far a request has come.
//!
//! `queued`, then `running` and `waiting` in turn, then one of three that nothing leaves.

use quixos_runtime::CallError;

use crate::agent_runtime::RequestState;

/// How far a request has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Admitted, and nobody has it.
    Queued,
    /// An attempt works on it.
    Running,
    /// An attempt holds it and waits for something.
    Waiting,
    /// Done.
    Completed,
    /// Given up.
    Failed,
    /// Called off.
    Cancelled,
}

impl Status {
    const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a word.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Reads the stored status of a request.
    pub(crate) fn of(progress: &RequestState) -> Result<Self, CallError> {
        Self::from_word(&progress.status).ok_or_else(|| CallError::Corrupt {
            message: format!("`{}` is stored as the status of a request", progress.status),
        })
    }

    /// Says whether nothing leaves it.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Says whether an attempt holds the request.
    pub(crate) fn is_held(self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }

    /// Reads a status that ends a request from the field `status` of an input.
    pub(crate) fn terminal(word: &str) -> Result<Self, CallError> {
        Self::from_word(word).filter(|status| status.is_terminal()).ok_or_else(|| {
            CallError::invalid("status", "must be `completed`, `failed` or `cancelled`")
        })
    }

    /// Reads a status in which a request is held from the field `status` of an input.
    pub(crate) fn held(word: &str) -> Result<Self, CallError> {
        Self::from_word(word)
            .filter(|status| status.is_held())
            .ok_or_else(|| CallError::invalid("status", "must be `running` or `waiting`"))
    }
}
