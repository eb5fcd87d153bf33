//! What is wrong with a command, where in the text, and what to do.

use std::ops::Range;

/// A fault in the text of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The bytes of the text that are wrong.
    pub(crate) span: Range<usize>,
    /// What is wrong: lowercase, no full stop, names in backticks.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
    /// Whether more text could make it right, as where a bracket is still open.
    pub(crate) unfinished: bool,
}

impl Fault {
    /// A fault that more text does not mend.
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None, unfinished: false }
    }

    /// A fault that more text may mend.
    pub(crate) fn unfinished(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { unfinished: true, ..Self::new(span, message) }
    }

    /// The same, with advice.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same, with the nearest of some words as advice, if one is near.
    #[must_use]
    pub(crate) fn suggest<'a>(self, word: &str, among: impl IntoIterator<Item = &'a str>) -> Self {
        self.suggest_as("", word, among)
    }

    /// The same, for words that are written behind a mark, like `$` or `--`.
    #[must_use]
    pub(crate) fn suggest_as<'a>(
        self,
        mark: &str,
        word: &str,
        among: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        match quixos_schema::meant(word, among) {
            Some(near) => self.help(format!("did you mean `{mark}{near}`?")),
            None => self,
        }
    }
}
