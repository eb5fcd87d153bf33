//! What a handler may do with its receiver: its state, its edges, its streams; and what it may
//! create.

use quixos_schema::Verb;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::capability::GrantKind;
use crate::edge;
use crate::error::CallError;
use crate::object::{self, encoded};
use crate::reference::ObjectRef;
use crate::stream;
use crate::transaction::within;

impl Call<'_> {
    /// Reads a state slot of the receiver.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn state_read<T: DeserializeOwned>(&self, requirement: usize) -> Result<T, CallError> {
        let at = self.state(requirement, Verb::Read)?;
        self.note(Verb::Read, requirement, None, self.receiver);
        self.read_state(self.atom, at, self.receiver)
    }

    /// Writes a state slot of the receiver.
    ///
    /// # Errors
    /// `capability`, `limit`, `invalid` when the value is not of the slot's type.
    pub fn state_write<T: Serialize + ?Sized>(
        &self,
        requirement: usize,
        value: &T,
    ) -> Result<(), CallError> {
        let at = self.state(requirement, Verb::Write)?;
        let bytes = encoded(value)?;
        self.give(&self.atom.states[at].layout, &bytes, requirement, Verb::Write)?;
        self.note(Verb::Write, requirement, None, self.receiver);
        let Self { transaction, atom, receiver, .. } = *self;
        transaction.whole(|| object::write_state(transaction, atom, receiver, at, bytes))
    }

    /// Reads the target of an edge of the receiver with exactly one.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn edge_one(&self, requirement: usize) -> Result<ObjectRef, CallError> {
        let edge = self.edge(requirement, None)?;
        Ok(self.hand(edge.one(self.transaction, self.receiver)?))
    }

    /// Reads the target of an edge of the receiver with at most one.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_optional(&self, requirement: usize) -> Result<Option<ObjectRef>, CallError> {
        let edge = self.edge(requirement, None)?;
        Ok(edge.optional(self.transaction, self.receiver)?.map(|target| self.hand(target)))
    }

    /// Tells whether a set of the receiver holds a target.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_contains(&self, requirement: usize, target: ObjectRef) -> Result<bool, CallError> {
        let edge = self.edge(requirement, Some(target))?;
        edge.contains(self.transaction, self.receiver, target)
    }

    /// Reads at most `limit` targets of a set of the receiver behind `after`, in the order of
    /// their ids.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_page(
        &self,
        requirement: usize,
        after: Option<ObjectRef>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        let edge = self.edge(requirement, None)?;
        let targets = edge.page(self.transaction, self.receiver, after, limit)?;
        Ok(self.hand_all(targets))
    }

    /// Reads the target of a map of the receiver at a key.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_at(&self, requirement: usize, key: &str) -> Result<Option<ObjectRef>, CallError> {
        let edge = self.edge(requirement, None)?;
        let found = edge.at(self.transaction, self.receiver, key)?;
        Ok(found.first().map(|target| self.hand(*target)))
    }

    /// Reads at most `limit` keys and targets of a map of the receiver behind the key `after`, in
    /// the order of the keys.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_entries(
        &self,
        requirement: usize,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ObjectRef)>, CallError> {
        let edge = self.edge(requirement, None)?;
        let entries = edge.entries(self.transaction, self.receiver, after, limit)?;
        Ok(self.hand_entries(entries))
    }

    /// Connects a target. Tells whether it is new.
    ///
    /// # Errors
    /// `capability`; `conflict` when the edge holds at most one target and another is there.
    pub fn edge_connect(&self, requirement: usize, target: ObjectRef) -> Result<bool, CallError> {
        let at = self.stored_edge(requirement, Verb::Connect, Some(target))?;
        let Self { transaction, atom, receiver, .. } = *self;
        transaction.whole(|| edge::connect(transaction, atom, receiver, at, None, target))
    }

    /// Connects a target at a key. Tells whether it is new.
    ///
    /// # Errors
    /// `capability`; `conflict` when another target is at the key.
    pub fn edge_connect_at(
        &self,
        requirement: usize,
        key: &str,
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        let at = self.stored_edge(requirement, Verb::Connect, Some(target))?;
        let Self { transaction, atom, receiver, .. } = *self;
        transaction.whole(|| edge::connect(transaction, atom, receiver, at, Some(key), target))
    }

    /// Disconnects a target. Tells whether it was there.
    ///
    /// # Errors
    /// `capability`.
    pub fn edge_disconnect(
        &self,
        requirement: usize,
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        let at = self.stored_edge(requirement, Verb::Disconnect, Some(target))?;
        let Self { transaction, atom, receiver, .. } = *self;
        transaction.whole(|| edge::disconnect(transaction, atom, receiver, at, target))
    }

    /// Disconnects what is at a key, and returns it.
    ///
    /// # Errors
    /// `capability`.
    pub fn edge_disconnect_at(
        &self,
        requirement: usize,
        key: &str,
    ) -> Result<Option<ObjectRef>, CallError> {
        let at = self.stored_edge(requirement, Verb::Disconnect, None)?;
        let Self { transaction, atom, receiver, .. } = *self;
        let found =
            transaction.whole(|| edge::disconnect_at(transaction, atom, receiver, at, key))?;
        Ok(found.map(|target| self.hand(target)))
    }

    /// Creates an object.
    ///
    /// # Errors
    /// `capability`, `limit`; `invalid` when the input is not of the creation's type.
    pub fn create<T: Serialize + ?Sized>(
        &self,
        requirement: usize,
        input: &T,
    ) -> Result<ObjectRef, CallError> {
        let kind = self.grant(requirement, Verb::Create)?;
        let GrantKind::Creation(creation) = kind else {
            return Err(self.denied(requirement, Verb::Create, None, "it is no creation"));
        };
        self.writable(requirement, Verb::Create)?;
        let bytes = encoded(input)?;
        within("bytes in an input", self.transaction.circumstances().limits.input, bytes.len())?;
        self.give(&creation.input, &bytes, requirement, Verb::Create)?;
        let Self { transaction, model, .. } = *self;
        let created = transaction.whole(|| object::create(transaction, model, creation, &bytes))?;
        self.note(Verb::Create, requirement, None, created);
        Ok(self.hand(created))
    }

    /// Appends an event to a stream of the receiver, and returns its offset.
    ///
    /// # Errors
    /// `capability`, `limit`; `invalid` when the event is not of the stream's type.
    pub fn stream_append<T: Serialize + ?Sized>(
        &self,
        requirement: usize,
        event: &T,
    ) -> Result<u64, CallError> {
        let slot = self.stream(requirement, Verb::Append)?;
        let bytes = encoded(event)?;
        self.give(&slot.layout, &bytes, requirement, Verb::Append)?;
        self.note(Verb::Append, requirement, None, self.receiver);
        let Self { transaction, receiver, .. } = *self;
        transaction.whole(|| stream::append(transaction, receiver, slot, &bytes))
    }

    /// Reads at most `limit` events of a stream of the receiver from an offset on.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn stream_read<T: DeserializeOwned>(
        &self,
        requirement: usize,
        from: u64,
        limit: usize,
    ) -> Result<Vec<T>, CallError> {
        let slot = self.stream(requirement, Verb::Read)?;
        self.note(Verb::Read, requirement, None, self.receiver);
        self.read_stream(slot, self.receiver, from, limit)
    }

    /// Returns how many events a stream of the receiver has.
    ///
    /// # Errors
    /// As [`Call::stream_read`].
    pub fn stream_len(&self, requirement: usize) -> Result<u64, CallError> {
        let slot = self.stream(requirement, Verb::Read)?;
        self.note(Verb::Read, requirement, None, self.receiver);
        stream::length(self.transaction, self.receiver, slot)
    }
}
