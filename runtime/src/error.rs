//! Why a call did not go through.
//!
//! One enum at the boundary; callers match on it, nobody reads the text. The shell makes exit
//! codes of [`CallError::code`], the host statuses, in one place each.

use quixos_schema::Verb;

use crate::reference::ObjectRef;

/// Why a call did not commit. Nothing that a failed call wrote is visible afterwards.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// A value in the input does not fit. Changed nothing.
    #[error("invalid input at `{path}`: {message}")]
    Invalid {
        /// The way to the value, like `submission.createdAt` or `contexts[2]`; `$` is the whole.
        path: String,
        /// What was wrong and what would be right.
        message: String,
    },
    /// A rule of the package says no.
    #[error("refused: {reason}")]
    Refused {
        /// A stable word, like `thread-archived`.
        reason: String,
    },
    /// Something else is already there.
    #[error("conflict: {message}")]
    Conflict {
        /// What is there and what was asked.
        message: String,
    },
    /// What is needed is in use; later it may not be.
    #[error("busy: {message}")]
    Busy {
        /// What is in use.
        message: String,
    },
    /// The fence (attempt, generation) is not the one that is held.
    #[error("stale fence: given {given}, held {held}")]
    StaleFence {
        /// The fence in the call.
        given: Fence,
        /// The fence as stored.
        held: Fence,
    },
    /// The version is not newer than the stored one.
    #[error("stale version: given {given}, stored {stored}")]
    StaleVersion {
        /// The version in the call.
        given: u64,
        /// The version as stored.
        stored: u64,
    },
    /// What was named is not there.
    #[error("not found: {what}")]
    NotFound {
        /// What was looked for.
        what: String,
    },
    /// The operation's `requires` block does not grant this, or the reference was not handed to
    /// the call.
    #[error(transparent)]
    Capability(#[from] Box<Denied>),
    /// A limit was reached.
    #[error("limit: {message}")]
    Limit {
        /// Which limit, its value, and what was asked.
        message: String,
    },
    /// What is needed is not there yet, or no longer; a repeat later may mend it.
    #[error("unavailable: {message}")]
    Unavailable {
        /// What is missing.
        message: String,
    },
    /// The store could not read or write.
    #[error("storage: {message}")]
    Storage {
        /// What the store said, and whether it still takes writes.
        message: String,
    },
    /// What is stored is not what was written.
    #[error("corrupt: {message}")]
    Corrupt {
        /// What and where.
        message: String,
    },
}

/// An attempt and its generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Whose it is.
    pub attempt: String,
    /// Which claim it was; grows with each.
    pub generation: u32,
}

impl std::fmt::Display for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({:?}, {})", self.attempt, self.generation)
    }
}

/// What an operation tried that it may not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{operation}` may not {verb} `{requirement}`: {why}")]
pub struct Denied {
    /// The operation's id, or who it was that called from outside.
    pub operation: String,
    /// The requirement's name, or what would be needed.
    pub requirement: String,
    /// What it tried.
    pub verb: Verb,
    /// The reference it tried it on, if any.
    pub reference: Option<ObjectRef>,
    /// What is missing.
    pub why: String,
}

impl CallError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::Refused { .. } => "refused",
            Self::Conflict { .. } => "conflict",
            Self::Busy { .. } => "busy",
            Self::StaleFence { .. } => "stale-fence",
            Self::StaleVersion { .. } => "stale-version",
            Self::NotFound { .. } => "not-found",
            Self::Capability(_) => "capability",
            Self::Limit { .. } => "limit",
            Self::Unavailable { .. } => "unavailable",
            Self::Storage { .. } => "storage",
            Self::Corrupt { .. } => "corrupt",
        }
    }

    /// An [`CallError::Invalid`].
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { path: path.into(), message: message.into() }
    }

    /// A [`CallError::Refused`].
    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }

    /// A [`CallError::Conflict`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict { message: message.into() }
    }
}
