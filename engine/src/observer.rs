//! What an engine does outside of its store, told to whoever counts it.
//!
//! An engine counts nothing itself. What sessions log is told by the runtime's own observer; here
//! is what no log has: how long workers and providers take, and what is broken off.

use std::time::{Duration, Instant};

/// Hears what an engine does. It is called where the engine works, so it must be quick.
pub trait Observer: Send + Sync {
    /// A delivery, or an attempt of a model call, is over.
    fn over(&self, errand: &Over<'_>);
}

/// An errand that is over.
#[derive(Clone, Copy, Debug)]
pub struct Over<'e> {
    /// What it was.
    pub kind: Kind<'e>,
    /// Which attempt: 1, 2, 3 …
    pub attempt: u32,
    /// What it came to.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

/// What an engine goes out for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind<'e> {
    /// A worker is asked.
    Delivery {
        /// The agent.
        agent: &'e str,
    },
    /// A model is called.
    Model {
        /// What the names of the models begin with that its provider runs.
        models: &'e str,
    },
}

/// What an errand comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was answered.
    Answered,
    /// It failed in a way that may pass.
    Failed,
    /// It failed for good.
    Refused,
    /// It took too long.
    Deadline,
    /// It was no longer wanted, or the engine stopped.
    GivenUp,
}

impl Outcome {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Deadline => "deadline",
            Self::GivenUp => "given-up",
        }
    }

    /// Returns what an errand came to, given whether another try may do better where it failed;
    /// none at all is too late.
    pub(crate) fn of<T, E>(done: Option<&Result<T, E>>, may_pass: impl Fn(&E) -> bool) -> Self {
        match done {
            Some(Ok(_)) => Self::Answered,
            Some(Err(error)) if may_pass(error) => Self::Failed,
            Some(Err(_)) => Self::Refused,
            None => Self::Deadline,
        }
    }
}

/// An errand that is observed: one that is dropped before it is over is told as given up.
pub(crate) struct Observed<'e> {
    observer: Option<&'e dyn Observer>,
    kind: Kind<'e>,
    attempt: u32,
    begun: Instant,
}

impl<'e> Observed<'e> {
    pub(crate) fn begin(observer: Option<&'e dyn Observer>, kind: Kind<'e>, attempt: u32) -> Self {
        Self { observer, kind, attempt, begun: Instant::now() }
    }

    pub(crate) fn end(mut self, outcome: Outcome) {
        self.tell(outcome);
    }

    fn tell(&mut self, outcome: Outcome) {
        if let Some(observer) = self.observer.take() {
            let (kind, attempt, took) = (self.kind, self.attempt, self.begun.elapsed());
            observer.over(&Over { kind, attempt, outcome, took });
        }
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        self.tell(Outcome::GivenUp);
    }
}
