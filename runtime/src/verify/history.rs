//! The history, what else says something of a commit, and what the store says about itself.

use std::collections::BTreeSet;

use bytes::Bytes;
use quixos_schema::Sources;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ulid::Ulid;

use crate::clock::from_millis;
use crate::error::CallError;
use crate::history::{self, Action, FirstAnswer, Hash, HistoryEntry, Touched};
use crate::key::{self, Key};
use crate::meta::{self, FORMAT, Head, StoredPackage};
use crate::model::{Model, StateModel};
use crate::object;
use crate::overlay::Read;
use crate::verify::{Check, Report, VerifyKind};

/// Where the head of the history lies, in words.
const HEAD_PLACE: &str = "meta `head`";

/// The last entry of the history that was seen.
#[derive(Default)]
pub(super) struct Chain {
    commit: u64,
    hash: Hash,
    millis: i64,
}

impl<'a, R: Read> Check<'a, R> {
    pub(super) fn new(read: &'a R, model: &'a Model) -> Result<Self, CallError> {
        let (head, damage) = match read.get(&key::meta(meta::HEAD_NAME)) {
            // One that is malformed is found where it lies.
            Ok(Some(bytes)) => (postcard::from_bytes(&bytes).ok(), None),
            Ok(None) => (Some(Head::default()), None),
            Err(CallError::Corrupt { message }) => (None, Some(message)),
            Err(error) => return Err(error),
        };
        let mut check = Self {
            read,
            model,
            report: Report::default(),
            head,
            owner: None,
            commit: None,
            stream: None,
            packages: Vec::new(),
            chain: Chain::default(),
            lost: BTreeSet::new(),
        };
        if let Some(message) = damage {
            check.found(VerifyKind::Unreadable, HEAD_PLACE, message);
        }
        Ok(check)
    }

    /// Checks what can be checked only when all was seen.
    pub(super) fn end(&mut self) -> Result<(), CallError> {
        self.leave_stream(&Key::History(0))?;
        self.sources();
        if let Some(head) = self.head {
            self.head_is_of_the_history(&head);
        }
        match meta::format(self.read) {
            Ok(None) if self.report.counts.total() > 0 => {
                self.found(VerifyKind::Meta, "meta `format`", "the store does not say its format");
            }
            Ok(_) | Err(CallError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn head_is_of_the_history(&mut self, head: &Head) {
        let Chain { commit, hash, millis } = self.chain;
        if commit != head.commit {
            let message = format!("the history ends at {commit}, the head says {}", head.commit);
            self.found(VerifyKind::HistoryGap, HEAD_PLACE, message);
        } else if (hash, millis) != (head.hash, head.millis) {
            let message = format!("hash and instant are not those of commit {commit}");
            self.found(VerifyKind::HistoryChain, HEAD_PLACE, message);
        }
    }

    /// Checks an entry of the history: it follows the one before, and is the one that was written.
    pub(super) fn history(
        &mut self,
        bytes: &[u8],
        commit: u64,
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::History(commit);
        let place = self.place(&key);
        if commit != self.chain.commit + 1 {
            let message = format!("the commit before it is {}", self.chain.commit);
            self.found(VerifyKind::HistoryGap, place.clone(), message);
        }
        let gap = commit != self.chain.commit + 1;
        self.chain.commit = commit;
        let Ok(entry) = history::entry(bytes, value) else {
            self.found(VerifyKind::Value, place, "the entry is malformed");
            return Ok(());
        };
        if history::put(&entry)?.1 != value {
            self.found(VerifyKind::Value, place.clone(), "the entry has not the one form it has");
        }
        if !gap && entry.previous != self.chain.hash {
            let message = "it is not chained to the entry before";
            self.found(VerifyKind::HistoryChain, place.clone(), message);
        }
        if entry.expected_hash() != entry.hash {
            let message = "its hash is not that of what it says";
            self.found(VerifyKind::HistoryChain, place.clone(), message);
        }
        let millis = entry.instant.timestamp_millis();
        if millis < self.chain.millis {
            let message = "its instant is before that of the entry before";
            self.found(VerifyKind::HistoryChain, place.clone(), message);
        }
        self.chain = Chain { commit, hash: entry.hash, millis };
        if let Some(id) = entry.transaction
            && !self.read.contains(&key::transaction(id))?
        {
            let message = format!("there is no record of its transaction {id}");
            self.found(VerifyKind::Transaction, place.clone(), message);
        }
        self.lost(&entry)?;
        let touched = entry.touched.iter().map(|touched| touched.object);
        for object in touched.chain([entry.receiver]) {
            if !object::exists(self.read, object)? {
                let message = format!("{} is not there", self.model.text(object));
                self.found(VerifyKind::Dangling, place.clone(), message);
            }
        }
        Ok(())
    }

    /// Finds what an entry says that it wrote and nobody else would miss: the cursor of a reader, and
    /// a state that an object may be without. Neither is ever taken away.
    fn lost(&mut self, entry: &HistoryEntry) -> Result<(), CallError> {
        for Touched { object, slots, .. } in &entry.touched {
            let Some(atom) = self.model.atom_of(object.atom) else { continue };
            for slot in slots {
                let (kind, key) = match &entry.action {
                    Action::Advance { cursor, .. } => {
                        let name = cursor.as_str().into();
                        let key = Key::Cursor { object: *object, slot: *slot, name };
                        (VerifyKind::Cursor, key)
                    }
                    Action::Call { .. } | Action::Create { .. } => {
                        let state = atom.states.iter().find(|it| it.tag == *slot);
                        if !state.is_some_and(StateModel::may_be_absent) {
                            continue;
                        }
                        (VerifyKind::MissingState, Key::State { object: *object, slot: *slot })
                    }
                };
                let bytes = key.encode();
                if self.read.contains(&bytes)? || self.lost.contains(&bytes) {
                    continue;
                }
                let message = format!("commit {} wrote it, and it is not there", entry.commit);
                self.found(kind, self.place(&key), message);
                if self.lost.len() < Report::MOST {
                    self.lost.insert(bytes);
                }
            }
        }
        Ok(())
    }

    /// Checks the record of a named transaction against the history.
    pub(super) fn transaction(&mut self, id: Ulid, value: &Bytes) -> Result<(), CallError> {
        let key = Key::Transaction(id);
        let Some(FirstAnswer { commit, asked, output }) = self.strictly(&key, value) else {
            return Ok(());
        };
        let message = match self.history_entry(commit)? {
            None => format!("commit {commit}, which it names, is not there"),
            Some(entry) if entry.transaction != Some(id) => {
                format!("commit {commit}, which it names, is of another transaction")
            }
            Some(entry) if entry.outcome != *blake3::hash(&output).as_bytes() => {
                format!("its answer is not the outcome of commit {commit}")
            }
            Some(entry) if asked_of(entry)? != asked => {
                format!("it is of another call than commit {commit}")
            }
            Some(_) => return Ok(()),
        };
        self.found(VerifyKind::Transaction, self.place(&key), message);
        Ok(())
    }

    pub(super) fn meta(&mut self, name: &str, value: &Bytes) -> Result<(), CallError> {
        let key = Key::Meta(name.into());
        if name == meta::FORMAT_NAME {
            if let Some(format) = self.strictly::<u32>(&key, value)
                && format != FORMAT
            {
                let message = format!("the store has format {format}, this is {FORMAT}");
                self.found(VerifyKind::Meta, self.place(&key), message);
            }
        } else if name == meta::HEAD_NAME {
            // What it says is checked when the whole history was seen.
            self.strictly::<Head>(&key, value);
        } else if let Some(id) = name.strip_prefix(meta::PACKAGE_PREFIX) {
            if let Some(stored) = self.strictly::<StoredPackage>(&key, value) {
                if let Err(message) = check_package(self.model, id, &stored) {
                    self.found(VerifyKind::Meta, self.place(&key), message);
                }
                self.packages.push(stored);
            }
        } else {
            self.found(VerifyKind::Meta, self.place(&key), "nothing has this name");
        }
        Ok(())
    }

    /// Checks that the stored definitions of all packages are those of the stored digests. They
    /// refer to each other, so this waits until all are there.
    fn sources(&mut self) {
        let mut sources = Sources::new();
        for (name, text) in self.packages.iter().flat_map(|package| &package.sources) {
            sources.add(name, text);
        }
        for loaded in &self.model.definitions.packages {
            if !self.packages.iter().any(|it| it.id == loaded.id) {
                let key = format!("{}{}", meta::PACKAGE_PREFIX, loaded.id);
                let place = self.place(&Key::Meta(key.into()));
                self.found(VerifyKind::Meta, place, "the store does not say that it has it");
            }
        }
        let checked = quixos_schema::check(sources).definitions.unwrap_or_default();
        for StoredPackage { id, digest, .. } in std::mem::take(&mut self.packages) {
            let made = checked.packages.iter().find(|it| it.id == id).map(|it| &it.digest);
            if made != Some(&digest) {
                let key = format!("{}{id}", meta::PACKAGE_PREFIX);
                let message = "its definition files do not have the digest that it says";
                self.found(VerifyKind::Meta, self.place(&Key::Meta(key.into())), message);
            }
        }
    }

    /// Checks that a commit is one, and happened at an instant.
    pub(super) fn commit(
        &mut self,
        key: &Key<'_>,
        commit: u64,
        millis: i64,
    ) -> Result<(), CallError> {
        let wrong = match self.history_entry(commit)? {
            None => format!("commit {commit}, which wrote it, is not there"),
            Some(entry) if entry.instant != from_millis(millis) => {
                format!("its instant is not that of commit {commit}")
            }
            Some(_) => return Ok(()),
        };
        self.found(VerifyKind::Commit, self.place(key), wrong);
        Ok(())
    }

    /// Returns an entry of the history; nothing where there is none, or one that is malformed,
    /// which is found where it lies.
    pub(super) fn history_entry(
        &mut self,
        commit: u64,
    ) -> Result<Option<&HistoryEntry>, CallError> {
        if self.commit.as_ref().is_none_or(|(last, _)| *last != commit) {
            let key = key::history(commit);
            let value = self.read.get(&key)?;
            let entry = value.and_then(|value| history::entry(&key, &value).ok());
            self.commit = Some((commit, entry));
        }
        Ok(self.commit.as_ref().and_then(|(_, entry)| entry.as_ref()))
    }

    /// Reads a structure of the runtime's own, which must be in its one form.
    pub(super) fn strictly<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &Key<'_>,
        bytes: &[u8],
    ) -> Option<T> {
        let read = postcard::from_bytes::<T>(bytes).ok();
        let one_form = |it: &T| postcard::to_allocvec(it).is_ok_and(|written| written == bytes);
        if read.as_ref().is_none_or(|it| !one_form(it)) {
            self.found(VerifyKind::Value, self.place(key), "its bytes are malformed");
        }
        read
    }
}

fn asked_of(entry: &HistoryEntry) -> Result<Hash, CallError> {
    let on = match entry.action {
        // What was created was no receiver yet.
        Action::Create { .. } => None,
        Action::Call { .. } | Action::Advance { .. } => Some(entry.receiver),
    };
    history::asked(&entry.action, on, &entry.actor, &entry.input)
}

/// Checks what opening the store did not: it looks at ids and digests.
fn check_package(model: &Model, id: &str, stored: &StoredPackage) -> Result<(), String> {
    if stored.id != id {
        return Err(format!("it is the package `{}`", stored.id));
    }
    match model.definitions.packages.iter().find(|it| it.id == id) {
        Some(loaded) if loaded.revision == stored.revision => Ok(()),
        Some(loaded) => Err(format!("it is {}, loaded is {}", stored.revision, loaded.revision)),
        None => Err("the package is not loaded".into()),
    }
}
