//! What a thread or a request is about: subjects by their canonical reference, each once.

use std::collections::BTreeMap;

use quixos_runtime::InterfaceRef;

use crate::agent_runtime::AgentContextSubject;

/// A subject.
type Subject = InterfaceRef<AgentContextSubject>;

/// Subjects by key.
#[derive(Default)]
pub(crate) struct Contexts(BTreeMap<String, Subject>);

impl Contexts {
    /// Adds subjects; `key` gives the canonical reference of one.
    pub(crate) fn add(&mut self, subjects: Vec<Subject>, key: impl Fn(Subject) -> String) {
        self.0.extend(subjects.into_iter().map(|subject| (key(subject), subject)));
    }

    /// Makes each key and subject an entry of a creation's input.
    pub(crate) fn map<T>(self, entry: impl Fn(String, Subject) -> T) -> Vec<T> {
        self.0.into_iter().map(|(key, subject)| entry(key, subject)).collect()
    }
}

impl FromIterator<(String, Subject)> for Contexts {
    fn from_iter<I: IntoIterator<Item = (String, Subject)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}
