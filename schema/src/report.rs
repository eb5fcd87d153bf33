//! Where the faults of a run are gathered.
//!
//! Three rules keep one fault from making ten reports. What did not resolve is taken for right by
//! everything that uses it (`check/unknown.rs`). That something is *missing* is not said when it
//! may well stand in a text that could not be read: see [`Report::push_absent`]. And a place
//! that could not be read is not blamed for its meaning: see [`Report::finish`].

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::{Place, SourceId, Sources};

/// The faults found so far.
pub(crate) struct Report<'a> {
    sources: &'a Sources,
    found: Vec<Diagnostic>,
    absent: Vec<(String, Diagnostic)>,
    distrusted: BTreeSet<SourceId>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a Sources) -> Self {
        Self { sources, found: Vec::new(), absent: Vec::new(), distrusted: BTreeSet::new() }
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

    /// Tells whether there is an error so far.
    pub(crate) fn has_errors(&self) -> bool {
        !self.absent.is_empty() || self.found.iter().any(|it| it.code.severity() == Severity::Error)
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
        let unread: Vec<_> =
            self.found.iter().filter(|it| is_unread(it)).map(|it| it.place).collect();
        let touches = |place: Place| {
            unread.iter().any(|it| {
                it.source == place.source && it.start <= place.end && place.start <= it.end
            })
        };
        self.found.retain(|it| is_unread(it) || !touches(it.place));
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

/// Tells whether a fault is about characters, tokens or grammar.
fn is_unread(diagnostic: &Diagnostic) -> bool {
    diagnostic.code < Code::NoPackage
}

/// Sorts by place, and drops what was found twice.
fn in_order(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by_key(|it| (it.place, it.code));
    diagnostics.dedup();
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}
