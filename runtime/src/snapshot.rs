//! One version of everything, as an operator sees it: no capabilities, only reading.
//!
//! All that is asked of one snapshot is answered from one version, however long it takes. Slots
//! are asked for by their names in the definition.

use std::ops::Bound;

use bytes::Bytes;
use quixos_schema::{Definitions, Tag};
use ulid::Ulid;

use crate::capability::EdgePlace;
use crate::edge;
use crate::error::CallError;
use crate::history::{self, HistoryEntry};
use crate::inverse::{self, Holder};
use crate::key::{self, Key, Kind};
use crate::meta::{self, Head, StoredPackage};
use crate::model::{AtomModel, Model, StateModel, StreamModel};
use crate::object::{self, Created};
use crate::overlay::{Base, Entry, Read};
use crate::reference::ObjectRef;
use crate::resolve::{self, Resolved};
use crate::store::Direction;
use crate::stream::{self, Event};
use crate::value::Value;

/// One version of everything.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    model: &'a Model,
    base: &'a Base,
}

/// A target of an edge, or a source of an inverse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgeEntry {
    /// Its key, where the edge is keyed.
    pub key: Option<String>,
    /// The object.
    pub object: ObjectRef,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(model: &'a Model, base: &'a Base) -> Self {
        Self { model, base }
    }

    pub(crate) fn base(&self) -> &'a Base {
        self.base
    }

    pub(crate) fn model(&self) -> &'a Model {
        self.model
    }

    /// Returns the definitions that the store is read by.
    #[must_use]
    pub fn definitions(&self) -> &'a Definitions {
        &self.model.definitions
    }

    /// Returns the newest commit that shows here.
    #[must_use]
    pub fn commit(&self) -> u64 {
        self.base.commit
    }

    /// Tells whether an object is there.
    ///
    /// # Errors
    /// When the store cannot be read; so for all that follow.
    pub fn exists(&self, object: ObjectRef) -> Result<bool, CallError> {
        object::exists(self.base, object)
    }

    /// Returns when an object was created, if it is there.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn created(&self, object: ObjectRef) -> Result<Option<Created>, CallError> {
        object::created(self.base, object)
    }

    /// Reads at most `limit` objects of an atom behind an id, in the order of their ids, which is
    /// that of their creation.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn objects(
        &self,
        atom: Tag,
        after: Option<Ulid>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        let after = after.map(|id| key::object(ObjectRef { atom, id }));
        let start = after.as_deref().map(Bound::Excluded);
        let entries = self.base.begin_with(&key::objects(atom), start, limit)?;
        entries.iter().map(object_of).collect()
    }

    /// Reads at most `limit` objects of an atom before an id, the newest first.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn recent_objects(
        &self,
        atom: Tag,
        before: Option<Ulid>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        let prefix = key::objects(atom);
        let end = match before {
            Some(id) => Bound::Excluded(key::object(ObjectRef { atom, id })),
            None => key::end_of(&prefix),
        };
        let range = (Bound::Included(prefix.as_ref()), crate::overlay::borrow(&end));
        let entries = self.base.range(range, Direction::Backward, limit)?;
        entries.iter().map(object_of).collect()
    }

    /// Reads a state slot.
    ///
    /// # Errors
    /// As [`Snapshot::exists`]; `not-found` when the atom has no such slot.
    pub fn state(&self, object: ObjectRef, slot: &str) -> Result<Value, CallError> {
        let slot = self.state_slot(object, slot)?;
        let bytes = object::state(self.base, object, slot)?;
        let place = || format!("state `{}` of {}", slot.name, self.model.text(object));
        Value::decode(&bytes, &slot.layout).map_err(|error| error.corrupt(place()))
    }

    /// Reads the bytes of a state slot, which generated types can be read from.
    ///
    /// # Errors
    /// As [`Snapshot::state`].
    pub fn state_bytes(&self, object: ObjectRef, slot: &str) -> Result<Bytes, CallError> {
        object::state(self.base, object, self.state_slot(object, slot)?)
    }

    /// Reads at most `limit` targets of an edge, or sources of an inverse, behind an entry. Of a
    /// keyed inverse all that share the last key are there.
    ///
    /// # Errors
    /// As [`Snapshot::exists`]; `not-found` when the atom has no such edge or inverse.
    pub fn edge(
        &self,
        object: ObjectRef,
        name: &str,
        after: Option<&EdgeEntry>,
        limit: usize,
    ) -> Result<Vec<EdgeEntry>, CallError> {
        let edge = self.edge_slot(object, name)?;
        let unkeyed = |object| EdgeEntry { key: None, object };
        if edge.is_keyed() {
            let after = after.and_then(|entry| entry.key.as_deref());
            let entries = edge.entries(self.base, object, after, limit)?;
            let entry = |(key, object)| EdgeEntry { key: Some(key), object };
            return Ok(entries.into_iter().map(entry).collect());
        }
        match &edge {
            Resolved::Edge(one) if edge.cardinality() != quixos_schema::Cardinality::ManyUnique => {
                if after.is_some() {
                    return Ok(Vec::new());
                }
                let targets = edge::targets(self.base, object, one, limit)?;
                Ok(targets.into_iter().map(|(_, target)| unkeyed(target)).collect())
            }
            Resolved::Edge(_) | Resolved::Inverse(..) => {
                let after = after.map(|entry| entry.object);
                let targets = edge.page(self.base, object, after, limit)?;
                Ok(targets.into_iter().map(unkeyed).collect())
            }
        }
    }

    /// Reads what a keyed edge, or a keyed inverse, has at a key; of an inverse there may be several.
    ///
    /// # Errors
    /// As [`Snapshot::edge`]; `invalid` when it is not keyed.
    pub fn edge_at(
        &self,
        object: ObjectRef,
        name: &str,
        key: &str,
    ) -> Result<Vec<ObjectRef>, CallError> {
        self.edge_slot(object, name)?.at(self.base, object, key)
    }

    /// Reads at most `limit` of the edges that lead to an object, whether it declares an inverse
    /// of them or not, behind one.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn holders(
        &self,
        object: ObjectRef,
        after: Option<&Holder>,
        limit: usize,
    ) -> Result<Vec<Holder>, CallError> {
        let after = after.map(Holder::entry);
        let entries = inverse::holders(self.base, object, after, limit)?;
        entries.iter().map(|(key, _)| Holder::read(self.model, key)).collect()
    }

    /// Returns how many events a stream has.
    ///
    /// # Errors
    /// As [`Snapshot::exists`]; `not-found` when the atom has no such stream.
    pub fn stream_len(&self, object: ObjectRef, stream: &str) -> Result<u64, CallError> {
        stream::length(self.base, object, self.stream_slot(object, stream)?)
    }

    /// Reads at most `limit` events of a stream from an offset on.
    ///
    /// # Errors
    /// As [`Snapshot::stream_len`].
    pub fn events(
        &self,
        object: ObjectRef,
        stream: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Event>, CallError> {
        stream::events(self.base, object, self.stream_slot(object, stream)?, from, limit)
    }

    /// Reads at most `limit` events of a stream from an offset on, and none behind the first with
    /// which they have so many bytes. One at least, if there is one.
    ///
    /// # Errors
    /// As [`Snapshot::stream_len`].
    pub fn events_within(
        &self,
        object: ObjectRef,
        stream: &str,
        from: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<Event>, CallError> {
        stream::page(self.base, object, self.stream_slot(object, stream)?, from, limit, bytes)
    }

    /// Reads the value of an event of a stream.
    ///
    /// # Errors
    /// `not-found` when the atom has no such stream; `corrupt`.
    pub fn event_value(
        &self,
        object: ObjectRef,
        stream: &str,
        event: &Event,
    ) -> Result<Value, CallError> {
        let slot = self.stream_slot(object, stream)?;
        let place = || format!("event {} of `{stream}`", event.offset);
        Value::decode(&event.bytes, &slot.layout).map_err(|error| error.corrupt(place()))
    }

    /// Reads every named cursor of a stream with the offset that it stands at.
    ///
    /// # Errors
    /// As [`Snapshot::stream_len`].
    pub fn cursors(
        &self,
        object: ObjectRef,
        stream: &str,
    ) -> Result<Vec<(String, u64)>, CallError> {
        let slot = self.stream_slot(object, stream)?;
        let entries = self.base.begin_with(&key::cursor(object, slot.tag, ""), None, usize::MAX)?;
        let cursor = |(key, bytes): &Entry| match Key::decode(key) {
            Ok(Key::Cursor { name, .. }) => {
                let place = || format!("the cursor `{name}`");
                Ok((name.clone().into_owned(), object::stored(bytes, place)?))
            }
            Ok(_) | Err(_) => Err(inverse::malformed(key)),
        };
        entries.iter().map(cursor).collect()
    }

    /// Reads at most `limit` entries of the history behind a commit.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn history(&self, after: u64, limit: usize) -> Result<Vec<HistoryEntry>, CallError> {
        history::entries(self.base, after, limit)
    }

    /// Reads the last `limit` entries of the history, the newest first.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn recent_history(&self, limit: usize) -> Result<Vec<HistoryEntry>, CallError> {
        self.history_before(None, limit)
    }

    /// Reads the last `limit` entries of the history before a commit, the newest first.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn history_before(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<HistoryEntry>, CallError> {
        let prefix = key::all_of(Kind::History);
        let end = match before {
            Some(commit) => Bound::Excluded(key::history(commit)),
            None => key::end_of(&prefix),
        };
        let range = (Bound::Included(prefix.as_ref()), crate::overlay::borrow(&end));
        let entries = self.base.range(range, Direction::Backward, limit)?;
        entries.iter().map(|(key, value)| history::entry(key, value)).collect()
    }

    /// Returns where the history stands.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn head(&self) -> Result<Head, CallError> {
        meta::head(self.base)
    }

    /// Reads the packages that the store was written with.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn packages(&self) -> Result<Vec<StoredPackage>, CallError> {
        meta::packages(self.base)
    }

    /// Reads at most `limit` stored entries behind a key, in the order of the keys.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn entries(&self, after: Option<&[u8]>, limit: usize) -> Result<Vec<Entry>, CallError> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.base.range((start, Bound::Unbounded), Direction::Forward, limit)
    }

    /// Reads what is stored under a key.
    ///
    /// # Errors
    /// As [`Snapshot::exists`].
    pub fn entry(&self, key: &[u8]) -> Result<Option<Bytes>, CallError> {
        self.base.get(key)
    }

    fn atom(&self, object: ObjectRef) -> Result<&'a AtomModel, CallError> {
        self.model
            .atom_of(object.atom)
            .ok_or_else(|| CallError::NotFound { what: self.model.text(object) })
    }

    fn no_slot(&self, object: ObjectRef, kind: &str, name: &str) -> CallError {
        CallError::NotFound { what: format!("{kind} `{name}` of {}", self.model.text(object)) }
    }

    fn state_slot(&self, object: ObjectRef, name: &str) -> Result<&'a StateModel, CallError> {
        let found = self.atom(object)?.states.iter().find(|slot| slot.name == name);
        found.ok_or_else(|| self.no_slot(object, "state", name))
    }

    fn stream_slot(&self, object: ObjectRef, name: &str) -> Result<&'a StreamModel, CallError> {
        let found = self.atom(object)?.streams.iter().find(|slot| slot.name == name);
        found.ok_or_else(|| self.no_slot(object, "stream", name))
    }

    fn edge_slot(&self, object: ObjectRef, name: &str) -> Result<Resolved<'a>, CallError> {
        let atom = self.atom(object)?;
        let edge = atom.edges.iter().position(|slot| slot.name == name).map(EdgePlace::Edge);
        let inverse =
            || atom.inverses.iter().position(|slot| slot.name == name).map(EdgePlace::Inverse);
        let found = edge.or_else(inverse).ok_or_else(|| self.no_slot(object, "edge", name))?;
        Ok(resolve::place(self.model, atom, found))
    }
}

/// The object whose key an entry has.
fn object_of((key, _): &Entry) -> Result<ObjectRef, CallError> {
    match Key::decode(key) {
        Ok(Key::Object(object)) => Ok(object),
        Ok(_) | Err(_) => Err(inverse::malformed(key)),
    }
}
