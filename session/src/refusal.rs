//! Why a session refuses what it is asked, in words that hosts make statuses of.
//!
//! A refusal goes through the runtime as the reason of `refused`: a word, and behind a colon what
//! it names. Nothing that a refused step did remains.

use std::fmt;
use std::str::FromStr;

use quixos_runtime::CallError;

/// Why a session refuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Another turn is active; which one.
    TurnAlreadyActive(String),
    /// The conversation is paused by an interrupt.
    Interrupted,
    /// The session was cancelled, for good.
    Cancelled,
    /// The session is another owner's.
    NotOwner,
    /// The session is another tenant's.
    WrongTenant,
    /// The session is bound to another agent.
    WrongAgent,
    /// The caller's class is too low.
    NotPrivileged,
    /// The call is not the caller's to settle.
    WrongHandler,
    /// There is no such call.
    UnknownCall,
    /// Nothing of this id waits for the client.
    UnknownAction(String),
    /// The call is not open.
    NotPending,
    /// The call is at another attempt.
    AttemptMismatch,
    /// There is no turn that this could belong to.
    NoActiveTurn,
    /// Only users write messages.
    Role,
    /// There is no such agent.
    UnknownAgent,
    /// There are several agents of that name.
    AmbiguousAgent,
    /// Something else was asked under the same key before.
    KeyReused,
    /// AgentRuntime did not admit the turn, for this reason.
    NotAdmitted(String),
}

/// What is no refusal of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a refusal of a session")]
pub struct NotARefusal;

impl Refusal {
    /// Returns the stable word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::TurnAlreadyActive(_) => "turn-already-active",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
            Self::NotOwner => "not-owner",
            Self::WrongTenant => "wrong-tenant",
            Self::WrongAgent => "wrong-agent",
            Self::NotPrivileged => "not-privileged",
            Self::WrongHandler => "wrong-handler",
            Self::UnknownCall => "unknown-call",
            Self::UnknownAction(_) => "unknown-action",
            Self::NotPending => "not-pending",
            Self::AttemptMismatch => "attempt-mismatch",
            Self::NoActiveTurn => "no-active-turn",
            Self::Role => "role",
            Self::UnknownAgent => "unknown-agent",
            Self::AmbiguousAgent => "ambiguous-agent",
            Self::KeyReused => "key-reused",
            Self::NotAdmitted(_) => "not-admitted",
        }
    }

    /// Returns the HTTP status that says the same.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::UnknownAction(_) => 400,
            Self::NotOwner | Self::WrongTenant | Self::NotPrivileged | Self::WrongHandler => 403,
            Self::UnknownCall | Self::UnknownAgent => 404,
            Self::TurnAlreadyActive(_)
            | Self::Interrupted
            | Self::Cancelled
            | Self::WrongAgent
            | Self::NotPending
            | Self::AttemptMismatch
            | Self::NoActiveTurn
            | Self::AmbiguousAgent => 409,
            Self::Role | Self::KeyReused => 422,
            Self::NotAdmitted(reason) => match reason.as_str() {
                "capacity" => 429,
                "thread-archived" | "unknown-agent" | "wrong-thread" => 409,
                "agent-disabled" | "unavailable" => 503,
                _ => 422,
            },
        }
    }

    /// Returns what the word is about, if anything.
    fn about(&self) -> Option<&str> {
        match self {
            Self::TurnAlreadyActive(about)
            | Self::UnknownAction(about)
            | Self::NotAdmitted(about) => Some(about),
            Self::Interrupted
            | Self::Cancelled
            | Self::NotOwner
            | Self::WrongTenant
            | Self::WrongAgent
            | Self::NotPrivileged
            | Self::WrongHandler
            | Self::UnknownCall
            | Self::NotPending
            | Self::AttemptMismatch
            | Self::NoActiveTurn
            | Self::Role
            | Self::UnknownAgent
            | Self::AmbiguousAgent
            | Self::KeyReused => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.about() {
            Some(about) => write!(f, "{}:{about}", self.word()),
            None => f.write_str(self.word()),
        }
    }
}

impl FromStr for Refusal {
    type Err = NotARefusal;

    fn from_str(reason: &str) -> Result<Self, NotARefusal> {
        let (word, about) = reason.split_once(':').unwrap_or((reason, ""));
        let refusal = match word {
            "turn-already-active" => Self::TurnAlreadyActive(about.to_owned()),
            "interrupted" => Self::Interrupted,
            "cancelled" => Self::Cancelled,
            "not-owner" => Self::NotOwner,
            "wrong-tenant" => Self::WrongTenant,
            "wrong-agent" => Self::WrongAgent,
            "not-privileged" => Self::NotPrivileged,
            "wrong-handler" => Self::WrongHandler,
            "unknown-call" => Self::UnknownCall,
            "unknown-action" => Self::UnknownAction(about.to_owned()),
            "not-pending" => Self::NotPending,
            "attempt-mismatch" => Self::AttemptMismatch,
            "no-active-turn" => Self::NoActiveTurn,
            "role" => Self::Role,
            "unknown-agent" => Self::UnknownAgent,
            "ambiguous-agent" => Self::AmbiguousAgent,
            "key-reused" => Self::KeyReused,
            "not-admitted" => Self::NotAdmitted(about.to_owned()),
            _ => return Err(NotARefusal),
        };
        Ok(refusal)
    }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::refused(refusal.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_says() {
        let all = [
            Refusal::TurnAlreadyActive("t:1".to_owned()),
            Refusal::Interrupted,
            Refusal::Cancelled,
            Refusal::NotOwner,
            Refusal::WrongTenant,
            Refusal::WrongAgent,
            Refusal::NotPrivileged,
            Refusal::WrongHandler,
            Refusal::UnknownCall,
            Refusal::UnknownAction("int_1".to_owned()),
            Refusal::NotPending,
            Refusal::AttemptMismatch,
            Refusal::NoActiveTurn,
            Refusal::Role,
            Refusal::UnknownAgent,
            Refusal::AmbiguousAgent,
            Refusal::KeyReused,
            Refusal::NotAdmitted("capacity".to_owned()),
        ];
        for refusal in all {
            assert_eq!(refusal.to_string().parse(), Ok(refusal));
        }
        assert_eq!("thread-archived".parse::<Refusal>(), Err(NotARefusal));
    }
}
