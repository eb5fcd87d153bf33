//! What is wrong with a definition, where, and what to do.
//!
//! A diagnostic is a value, never an early return: one run shows every fault. The renderings
//! (text with source excerpts, JSON) stand in `render.rs`.

use crate::source::Place;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Nothing is generated or loaded.
    Error,
    /// Worth knowing.
    Warning,
}

/// A fault in a definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Which fault: stable, with a page in `docs/diagnostics`.
    pub code: Code,
    /// The primary place.
    pub place: Place,
    /// ``no atom named `AgentThred` ``: lowercase, no full stop, names in backticks.
    pub message: String,
    /// What the primary place is, if the message alone does not say so.
    pub label: Option<String>,
    /// The other places that matter.
    pub labels: Vec<(Place, String)>,
    /// What to do: ``did you mean `AgentThreadObject`?``
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns a diagnostic with nothing but its message.
    #[must_use]
    pub fn new(code: Code, place: Place, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, place, message, label: None, labels: Vec::new(), help: None }
    }

    /// Says what the primary place is.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = Some(text.into());
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn also(mut self, place: Place, text: impl Into<String>) -> Self {
        self.labels.push((place, text.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Says what to do, if there is anything to say.
    #[must_use]
    pub fn maybe_help(mut self, text: Option<impl Into<String>>) -> Self {
        self.help = text.map(Into::into);
        self
    }
}

pub(crate) use crate::code::Code;
