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
    /// defined.
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
        for (name, diagnostic) in std::mem::take(&mut self.absent) {
            if !self.may_be_defined(&name, diagnostic.place) {
                self.found.push(diagnostic);
            }
        }
        let (unread, meant): (Vec<_>, Vec<_>) =
            self.found.into_iter().partition(|it| it.code < Code::NoPackage);
        let blamed = |place: Place| {
            unread.iter().map(|it| it.place).any(|other| {
                other.source == place.source && other.start <= place.end && place.start <= other.end
            })
        };
        let meant: Vec<_> = meant.into_iter().filter(|it| !blamed(it.place)).collect();
        self.found = unread.into_iter().chain(meant).collect();
        self.found.sort_by_key(|it| (it.place, it.code));
        self.found.dedup();
        self.found
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

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}
