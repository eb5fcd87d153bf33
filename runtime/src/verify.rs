//! Checks every stored byte that can be checked: keys, values, references, both ends of every
//! edge, streams and their readers, the history's chain, and what each package promises beyond its
//! types. Nothing is changed, whatever is found.
//!
//! One walk through the store in the order of its keys, with a look elsewhere for each thing that
//! is said twice. Memory does not grow with the store: findings are counted beyond the first
//! [`Report::MOST`].
//!
//! Start at [`Runtime::verify`]. One file for each family of keys.

mod edges;
mod history;
mod kind;
mod objects;
mod place;
mod streams;

use std::collections::BTreeSet;
use std::fmt;

use bytes::Bytes;
use serde::Serialize;

pub use kind::VerifyKind;

use crate::counts::Counts;
use crate::error::CallError;
use crate::history::HistoryEntry;
use crate::key::{Key, Kind};
use crate::meta::{Head, StoredPackage};
use crate::model::{AtomModel, Model};
use crate::object;
use crate::overlay::Read;
use crate::package::Invariant;
use crate::reference::ObjectRef;
use crate::runtime::Runtime;
use crate::snapshot::Snapshot;
use crate::value::{Expected, Layout, ValueError};
use crate::walk::{Visitor, walk};

/// What a check of a store found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Report {
    /// What is wrong, in the order of the store; of very many, the first.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub omitted: u64,
    /// What was checked.
    pub counts: Counts,
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// What sort of damage it is.
    pub kind: VerifyKind,
    /// Where, in words: an object and its slot, a commit.
    pub place: String,
    /// What is there, and what should be.
    pub message: String,
}

impl Report {
    /// How many findings are listed.
    pub const MOST: usize = 1000;

    /// Tells whether nothing is wrong.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn add(&mut self, finding: Finding) {
        if self.findings.len() < Self::MOST {
            self.findings.push(finding);
        } else {
            self.omitted += 1;
        }
    }
}

impl Finding {
    /// A breach of what a package promises. The name of the invariant is added by who asked.
    pub fn breach(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: VerifyKind::Invariant, place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.kind, self.place, self.message)
    }
}

/// Checks one version of a store; `invariants` are those of the packages.
fn verify(snapshot: Snapshot<'_>, invariants: &[Invariant]) -> Result<Report, CallError> {
    let read = snapshot.base();
    let mut check = Check::new(read, snapshot.model())?;
    walk(read, &mut check)?;
    check.end()?;
    let mut report = check.report;
    for invariant in invariants {
        let named = |finding: Finding| Finding {
            message: format!("{}: {}", invariant.name, finding.message),
            ..finding
        };
        match (invariant.check)(&snapshot, &mut |finding| report.add(named(finding))) {
            Ok(()) => {}
            Err(error @ (CallError::Storage { .. } | CallError::Unavailable { .. })) => {
                return Err(error);
            }
            Err(error) => {
                let message = format!("cannot be checked: {error}");
                report.add(named(Finding::breach("the store", message)));
            }
        }
    }
    Ok(report)
}

impl Runtime {
    /// Checks all of the store, while no call that writes is executed.
    ///
    /// # Errors
    /// When the store cannot be read for a reason other than damage; damage is a finding.
    pub async fn verify(&self) -> Result<Report, CallError> {
        self.read_held(|snapshot| verify(*snapshot, &self.inner().invariants)).await
    }
}

/// A check under way.
struct Check<'a, R> {
    read: &'a R,
    model: &'a Model,
    report: Report,
    /// Where the history stands, as the store says, if that can be read.
    head: Option<Head>,
    /// The object that was last asked about, and whether it is there. Keys of one object follow
    /// each other.
    owner: Option<(ObjectRef, bool)>,
    /// The entry of the history that was last asked for. What was written together lies together.
    commit: Option<(u64, Option<HistoryEntry>)>,
    /// The stream whose events are being seen.
    stream: Option<streams::Run>,
    /// The packages that the store was written with, as far as they were seen.
    packages: Vec<StoredPackage>,
    /// What was seen of the history.
    chain: history::Chain,
    /// Keys that the history has and the store lost, as far as they were found.
    lost: BTreeSet<Bytes>,
}

impl<R: Read> Visitor for Check<'_, R> {
    type Error = CallError;

    fn entry(&mut self, bytes: &Bytes, value: &Bytes) -> Result<(), CallError> {
        let key = match Key::decode(bytes) {
            Ok(key) => key,
            Err(error) => {
                self.found(VerifyKind::Key, place::bytes(bytes), error.to_string());
                return Ok(());
            }
        };
        if let Some(kind) = bytes.first().and_then(|byte| Kind::of(*byte)) {
            self.report.counts.add(kind);
        }
        self.leave_stream(&key)?;
        let checked = match &key {
            Key::Meta(name) => self.meta(name, value),
            Key::Transaction(id) => self.transaction(*id, value),
            Key::Object(object) => self.object(*object, value),
            Key::State { object, slot } => self.state(*object, *slot, value),
            Key::Edge { source, slot, at } => self.edge(*source, *slot, at, value),
            Key::Inverse { target, source, slot, key, at } => {
                self.inverse(*target, *source, *slot, (key, at), value)
            }
            Key::Stream { object, slot } => self.stream_length(*object, *slot, value),
            Key::Event { object, slot, offset } => self.event(*object, *slot, *offset, value),
            Key::Cursor { object, slot, name } => self.cursor(*object, *slot, name, value),
            Key::History(commit) => self.history(bytes, *commit, value),
        };
        self.unless_damaged(&key, checked)
    }

    fn broken(&mut self, after: &[u8], message: String) -> Result<(), CallError> {
        let place = match Key::decode(after) {
            Ok(key) => format!("behind {}", place::of(self.model, &key)),
            Err(_) => format!("behind {}", place::bytes(after)),
        };
        self.found(VerifyKind::Unreadable, place, message);
        Ok(())
    }
}

impl<'a, R: Read> Check<'a, R> {
    fn found(&mut self, kind: VerifyKind, place: impl Into<String>, message: impl Into<String>) {
        self.report.add(Finding { kind, place: place.into(), message: message.into() });
    }

    fn place(&self, key: &Key<'_>) -> String {
        place::of(self.model, key)
    }

    /// Makes a finding of what could not be read on the way.
    fn unless_damaged(
        &mut self,
        key: &Key<'_>,
        checked: Result<(), CallError>,
    ) -> Result<(), CallError> {
        match checked {
            Err(CallError::Corrupt { message }) => {
                self.found(VerifyKind::Unreadable, self.place(key), message);
                Ok(())
            }
            other => other,
        }
    }

    /// Returns the atom of an object that something belongs to, if both are there.
    fn owner(
        &mut self,
        object: ObjectRef,
        key: &Key<'_>,
    ) -> Result<Option<&'a AtomModel>, CallError> {
        let Some(atom) = self.model.atom_of(object.atom) else {
            let message = "no atom of the loaded definitions has this tag";
            self.found(VerifyKind::UnknownAtom, self.place(key), message);
            return Ok(None);
        };
        let there = match self.owner {
            Some((last, there)) if last == object => there,
            Some(_) | None => object::exists(self.read, object)?,
        };
        self.owner = Some((object, there));
        if !there {
            let message = "it belongs to an object that is not there";
            self.found(VerifyKind::Orphan, self.place(key), message);
        }
        Ok(Some(atom))
    }

    fn unknown_slot(&mut self, key: &Key<'_>, noun: &str) {
        let message = format!("the atom has no such {noun}");
        self.found(VerifyKind::UnknownSlot, self.place(key), message);
    }

    /// Checks a value and every reference in it.
    fn value(&mut self, key: &Key<'_>, layout: &Layout, bytes: &[u8]) -> Result<(), CallError> {
        let mut found = Vec::new();
        let walked = layout.walk(bytes, |path, reference, expected| {
            for (kind, message) in self.wrong_with(reference, expected)? {
                found.push((kind, format!("at `{path}`: {message}")));
            }
            Ok(())
        });
        match walked {
            Ok(()) => {}
            Err(Stopped::Malformed(error)) => found.push((VerifyKind::Value, error.to_string())),
            Err(Stopped::Unread(error)) => return Err(error),
        }
        for (kind, message) in found {
            self.found(kind, self.place(key), message);
        }
        Ok(())
    }

    /// Checks that a reference leads to an object, and to one of the right type.
    fn reference(
        &mut self,
        key: &Key<'_>,
        reference: ObjectRef,
        expected: &Expected,
    ) -> Result<(), CallError> {
        for (kind, message) in self.wrong_with(reference, expected)? {
            self.found(kind, self.place(key), message);
        }
        Ok(())
    }

    fn wrong_with(
        &self,
        reference: ObjectRef,
        expected: &Expected,
    ) -> Result<Vec<(VerifyKind, String)>, CallError> {
        let mut wrong = Vec::new();
        let text = || self.model.text(reference);
        if !expected.accepts(reference) {
            wrong.push((VerifyKind::WrongType, format!("{} is not {}", text(), expected.noun())));
        }
        if !object::exists(self.read, reference)? {
            wrong.push((VerifyKind::Dangling, format!("{} is not there", text())));
        }
        Ok(wrong)
    }
}

/// Why a walk over a value ended early.
enum Stopped {
    Malformed(ValueError),
    Unread(CallError),
}

impl From<ValueError> for Stopped {
    fn from(error: ValueError) -> Self {
        Self::Malformed(error)
    }
}

impl From<CallError> for Stopped {
    fn from(error: CallError) -> Self {
        Self::Unread(error)
    }
}
