//! The reasons for which the package says no. Clients match on the words, so they never change.

use quixos_runtime::CallError;

/// Why something is not done that is in order otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// The agent belongs to another directory.
    UnknownAgent,
    /// The agent is switched off.
    AgentDisabled,
    /// The thread belongs to another agent.
    WrongThread,
    /// The thread is archived.
    ThreadArchived,
    /// The text is white space.
    Empty,
    /// Optional work, while nobody is there to do it.
    Unavailable,
    /// The profile is not advertised.
    UnknownProfile,
    /// Too many requests led to this one.
    CausalDepth,
    /// Too much is pending.
    Capacity,
    /// The request at the root has as many children as it may.
    ChildLimit,
    /// The request is held, but its attempt waits.
    NotRunning,
}

impl Refusal {
    /// Returns the word.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::UnknownAgent => "unknown-agent",
            Self::AgentDisabled => "agent-disabled",
            Self::WrongThread => "wrong-thread",
            Self::ThreadArchived => "thread-archived",
            Self::Empty => "empty",
            Self::Unavailable => "unavailable",
            Self::UnknownProfile => "unknown-profile",
            Self::CausalDepth => "causal-depth",
            Self::Capacity => "capacity",
            Self::ChildLimit => "child-limit",
            Self::NotRunning => "not-running",
        }
    }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal.reason())
    }
}
