//! The history: an entry for each committed call from outside, each chained to the one before.
//!
//! An entry says when, who, what and on which object, and which objects it touched. Of the input
//! and the outcome it has digests only, so that nothing secret is copied into it. Commit numbers
//! have no gaps. The hash of an entry covers all of it and the hash before, so that an edit, a
//! swap or a cut in the middle shows.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use quixos_schema::{Definitions, Tag};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::clock::from_millis;
use crate::error::CallError;
use crate::header::Header;
use crate::key::{self, Key};
use crate::object::{encoded, stored};
use crate::overlay::Read;
use crate::reference::ObjectRef;

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

/// What was done from outside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Action {
    /// A member was called.
    Call {
        /// The interface's id.
        interface: String,
        /// The member's name.
        member: String,
        /// The id of the operation that served it; none for a built-in append.
        operation: Option<String>,
    },
    /// An object was created at the door.
    Create {
        /// The atom's id.
        atom: String,
    },
    /// A reader of a stream moved its cursor.
    Advance {
        /// The stream slot's name.
        stream: String,
        /// The cursor's name.
        cursor: String,
    },
}

impl Action {
    /// Returns what was done in words: `Interface.member`, `create Atom`, ``cursor `name` of stream``.
    #[must_use]
    pub fn text(&self, definitions: &Definitions) -> String {
        match self {
            Self::Call { interface, member, .. } => {
                let found = definitions.interfaces.iter().find(|it| it.id == *interface);
                format!("{}.{member}", found.map_or(interface.as_str(), |it| it.name.as_str()))
            }
            Self::Create { atom } => {
                let found = definitions.atoms.iter().find(|it| it.id == *atom);
                format!("create {}", found.map_or(atom.as_str(), |it| it.name.as_str()))
            }
            Self::Advance { stream, cursor } => format!("cursor `{cursor}` of {stream}"),
        }
    }
}

/// What a commit changed of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Touched {
    /// The object.
    pub object: ObjectRef,
    /// Whether the commit created it.
    pub created: bool,
    /// The tags of the slots that it wrote, ascending: state, edges and streams.
    pub slots: Vec<Tag>,
}

/// A committed call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryEntry {
    /// Its number: 1, 2, 3 …
    pub commit: u64,
    /// When.
    pub instant: DateTime<Utc>,
    /// Who.
    pub actor: String,
    /// Whether it took an override, since the member is internal.
    pub internal: bool,
    /// What.
    pub action: Action,
    /// On which object; for a creation, the one created.
    pub receiver: ObjectRef,
    /// The hash of the input's bytes.
    pub input: Hash,
    /// The hash of the output's bytes.
    pub outcome: Hash,
    /// The transaction's id, where the caller gave one.
    pub transaction: Option<Ulid>,
    /// What it changed, in the order of the objects.
    pub touched: Vec<Touched>,
    /// The hash of the entry before; zeros in the first.
    pub previous: Hash,
    /// The hash of this entry.
    pub hash: Hash,
}

/// The stored form: everything but the number, which is the key, and the hash, which follows.
#[derive(Serialize, Deserialize)]
struct Body<'e> {
    millis: i64,
    actor: Cow<'e, str>,
    internal: bool,
    action: Cow<'e, Action>,
    receiver: ObjectRef,
    input: Hash,
    outcome: Hash,
    transaction: Option<Ulid>,
    touched: Cow<'e, [Touched]>,
    previous: Hash,
}

impl HistoryEntry {
    /// Returns the hash that the entry should have.
    #[must_use]
    pub fn expected_hash(&self) -> Hash {
        // Encoding a structure of ours into memory does not fail; were it to, no hash would fit.
        encoded(&self.body()).map_or([0; 32], |body| chain(self.commit, &body))
    }

    /// Sets the hash to what it should be, and returns what to write for the entry.
    pub(crate) fn seal(&mut self) -> Result<(Bytes, Bytes), CallError> {
        let body = encoded(&self.body())?;
        self.hash = chain(self.commit, &body);
        Ok(stored_form(self, &body))
    }

    fn body(&self) -> Body<'_> {
        Body {
            millis: self.instant.timestamp_millis(),
            actor: Cow::Borrowed(&self.actor),
            internal: self.internal,
            action: Cow::Borrowed(&self.action),
            receiver: self.receiver,
            input: self.input,
            outcome: self.outcome,
            transaction: self.transaction,
            touched: Cow::Borrowed(&self.touched),
            previous: self.previous,
        }
    }
}

fn chain(commit: u64, body: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&commit.to_be_bytes());
    hasher.update(body);
    *hasher.finalize().as_bytes()
}

/// Returns what to write for an entry.
pub(crate) fn put(entry: &HistoryEntry) -> Result<(Bytes, Bytes), CallError> {
    Ok(stored_form(entry, &encoded(&entry.body())?))
}

fn stored_form(entry: &HistoryEntry, body: &[u8]) -> (Bytes, Bytes) {
    (key::history(entry.commit), [&entry.hash, body].concat().into())
}

/// Reads an entry from its key and value.
pub(crate) fn entry(key: &[u8], value: &[u8]) -> Result<HistoryEntry, CallError> {
    let Ok(Key::History(commit)) = Key::decode(key) else {
        return Err(CallError::Corrupt { message: "a key of the history is malformed".into() });
    };
    let place = || format!("entry {commit} of the history");
    let (hash, body) = value
        .split_first_chunk::<32>()
        .ok_or_else(|| CallError::Corrupt { message: format!("{}: it is too short", place()) })?;
    let body: Body<'_> = stored(body, place)?;
    Ok(HistoryEntry {
        commit,
        instant: from_millis(body.millis),
        actor: body.actor.into_owned(),
        internal: body.internal,
        action: body.action.into_owned(),
        receiver: body.receiver,
        input: body.input,
        outcome: body.outcome,
        transaction: body.transaction,
        touched: body.touched.into_owned(),
        previous: body.previous,
        hash: *hash,
    })
}

/// Reads at most `limit` entries behind a commit.
pub(crate) fn entries(
    read: &impl Read,
    after: u64,
    limit: usize,
) -> Result<Vec<HistoryEntry>, CallError> {
    let start = key::history(after);
    let prefix = key::all_of(key::Kind::History);
    let page = read.begin_with(&prefix, Some(std::ops::Bound::Excluded(&start)), limit)?;
    page.iter().map(|(key, value)| entry(key, value)).collect()
}

/// Returns what a transaction's writes changed, object by object.
pub(crate) fn touched(writes: &BTreeMap<Bytes, Option<Bytes>>) -> Vec<Touched> {
    // Of each object whether it was created, which sorts first, then its slots.
    let mut touches: Vec<(ObjectRef, Option<Tag>)> = Vec::with_capacity(writes.len());
    for (key, value) in writes {
        match Key::decode(key) {
            Ok(Key::Object(object)) => {
                touches.push((object, None));
                let header = value.as_ref().and_then(|bytes| Header::decode(bytes));
                let slots = header.into_iter().flat_map(|header| header.targets);
                touches.extend(slots.map(|(slot, _)| (object, Some(slot))));
            }
            Ok(
                Key::State { object, slot }
                | Key::Edge { source: object, slot, .. }
                | Key::Stream { object, slot }
                | Key::Cursor { object, slot, .. },
            ) => touches.push((object, Some(slot))),
            // Inverses follow edges, events their stream; the rest is no object's.
            Ok(
                Key::Inverse { .. }
                | Key::Event { .. }
                | Key::Meta(_)
                | Key::Transaction(_)
                | Key::History(_),
            )
            | Err(_) => {}
        }
    }
    touches.sort_unstable();
    touches.dedup();
    let of_one = |touches: &[(ObjectRef, Option<Tag>)]| Touched {
        object: touches[0].0,
        created: touches[0].1.is_none(),
        slots: touches.iter().filter_map(|(_, slot)| *slot).collect(),
    };
    touches.chunk_by(|(one, _), (other, _)| one == other).map(of_one).collect()
}

/// Returns the hash of what is asked, and by whom. `on` is the receiver, where there is one before
/// the call.
pub(crate) fn asked(
    action: &Action,
    on: Option<ObjectRef>,
    actor: &str,
    input: &Hash,
) -> Result<Hash, CallError> {
    Ok(*blake3::hash(&encoded(&(action, on, actor, input))?).as_bytes())
}

/// The answer to a named transaction, kept so that a repeat is answered the same.
#[derive(Serialize, Deserialize)]
pub(crate) struct FirstAnswer {
    /// Its commit.
    pub(crate) commit: u64,
    /// What [`asked`] gives of the call.
    pub(crate) asked: Hash,
    /// The output's bytes.
    pub(crate) output: Vec<u8>,
}
