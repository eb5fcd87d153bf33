//! Where the faults of a run are gathered.
//!
//! Three rules keep one fault from making ten reports. What did not resolve is taken for right by
//! everything that uses it (`check/unknown.rs`). That something is *missing* is not said when it
//! may well stand in a text that could not be read: see [`Report::push_absent`]. And a place
//! that could not be read is not blamed for its meaning: see [`Report::finish`].

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Place, SourceId, Sources};

/// The faults found so far.
pub(crate) struct Report<'a> {
    sources: &'a Sources,
    found: Vec<Diagnostic>,
    absent: Vec<(String, Diagnostic)>,
    /// Faults of characters, tokens and grammar.
    unread: Vec<Diagnostic>,
    distrusted: BTreeSet<SourceId>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self {
            sources,
            found: Vec::new(),
            absent: Vec::new(),
            unread: Vec::new(),
            distrusted: BTreeSet::new(),
        }
    }

    /// Adds the faults of a text that could not be read whole.
    pub(crate) fn push_unread(&mut self, faults: Vec<Diagnostic>) {
        self.distrusted.extend(faults.iter().map(|it| it.place.source));
        self.unread.extend(faults);
    }

    /// Tells whether something in a place, or next to it, could not be read, so that nothing
    /// follows from what was.
    pub(crate) fn is_unread(&self, place: Place) -> bool {
        self.unread
            .iter()
            .map(|it| it.place)
            .any(|it| it.source == place.source && it.start <= place.end && place.start <= it.end)
    }

    /// Adds a fault.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds the fault that something of this name is missing.
    ///
    /// It is dropped if a distrusted text has the name at another place: there it may be
    /// defined. What is missed in several places is one fault.
    pub(crate) fn push_absent(&mut self, name: &str, diagnostic: Diagnostic) {
        self.absent.push((name.to_owned(), diagnostic));
    }

    /// Says that a text did not give all that stands in it.
    pub(crate) fn distrust(&mut self, source: SourceId) {
        self.distrusted.insert(source);
    }

    /// Tells whether a text did not give all that stands in it.
    pub(crate) fn distrusts(&self, source: SourceId) -> bool {
        self.distrusted.contains(&source)
    }

    /// Tells whether every text gave all that stands in it.
    pub(crate) fn trusts_all(&self) -> bool {
        self.distrusted.is_empty()
    }

    /// Tells whether there is an error so far.
    pub(crate) fn has_errors(&self) -> bool {
        !self.unread.is_empty()
            || !self.absent.is_empty()
            || self.found.iter().any(|it| it.code.severity() == Severity::Error)
    }

    /// Returns everything in the order of the sources, each fault once.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.add_absent();
        self.spare_unread();
        in_order(&mut self.found);
        self.found
    }

    /// Adds what is missing for sure.
    fn add_absent(&mut self) {
        let mut missed: Vec<_> = std::mem::take(&mut self.absent)
            .into_iter()
            .filter(|(name, it)| !self.may_be_defined(name, it.place))
            .map(|(_, it)| it)
            .collect();
        in_order(&mut missed);
        for diagnostic in missed {
            let same = |it: &&mut Diagnostic| {
                it.code == diagnostic.code && it.message == diagnostic.message
            };
            match self.found.iter_mut().find(same) {
                Some(first) => first.labels.push((diagnostic.place, "and here".to_owned())),
                None => self.found.push(diagnostic),
            }
        }
    }

    /// Drops what is said about the meaning of a place that could not be read.
    fn spare_unread(&mut self) {
        let found = std::mem::take(&mut self.found);
        let told = |it: &Diagnostic| !self.is_unread(it.place);
        self.found = self.unread.iter().cloned().chain(found.into_iter().filter(told)).collect();
    }

    fn may_be_defined(&self, name: &str, place: Place) -> bool {
        self.distrusted.iter().any(|source| {
            let text = &self.sources.get(*source).text;
            text.match_indices(name).any(|(start, _)| {
                let end = start + name.len();
                let here = place.source == *source && place.range().contains(&start);
                let part = text[..start].ends_with(is_word) || text[end..].starts_with(is_word);
                !here && !part
            })
        })
    }
}

/// Sorts by place, and drops what was found twice.
fn in_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|it| (it.place, it.code));
    diagnostics.dedup();
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}
