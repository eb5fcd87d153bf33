//! What a handler may do with other objects: use the members of their interfaces that it was
//! granted, on references that it was handed.

use quixos_schema::{Served, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::admit::admit;
use crate::call::{Call, Called};
use crate::capability::Handed;
use crate::error::CallError;
use crate::object::{encoded, stored};
use crate::reference::ObjectRef;
use crate::stream;

impl Call<'_> {
    /// Reads a state member.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn member_get<T: DeserializeOwned>(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
    ) -> Result<T, CallError> {
        let (served, atom) = self.member(requirement, member, Verb::Get, on)?;
        match served {
            Served::State(at) => {
                self.note(Verb::Get, requirement, Some(member), on);
                self.read_state(atom, at, on)
            }
            Served::Edge(_)
            | Served::Inverse(_)
            | Served::Stream(_)
            | Served::Operation(_)
            | Served::Append(_) => Err(self.no_such_member(requirement, Verb::Get, on)),
        }
    }

    /// Reads the target of an edge member with exactly one.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_one(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
    ) -> Result<ObjectRef, CallError> {
        let edge = self.member_edge(requirement, member, on, None)?;
        Ok(self.hand(edge.one(self.transaction, on)?))
    }

    /// Reads the target of an edge member with at most one.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_optional(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
    ) -> Result<Option<ObjectRef>, CallError> {
        let edge = self.member_edge(requirement, member, on, None)?;
        Ok(edge.optional(self.transaction, on)?.map(|target| self.hand(target)))
    }

    /// Tells whether an edge member holds a target.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_contains(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        let edge = self.member_edge(requirement, member, on, Some(target))?;
        edge.contains(self.transaction, on, target)
    }

    /// Reads at most `limit` targets of an edge member behind `after`, in the order of their ids.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_targets(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        after: Option<ObjectRef>,
        limit: usize,
    ) -> Result<Vec<ObjectRef>, CallError> {
        let edge = self.member_edge(requirement, member, on, None)?;
        Ok(self.hand_all(edge.page(self.transaction, on, after, limit)?))
    }

    /// Reads at most `limit` keys and targets of a keyed edge member behind the key `after`. Where
    /// several targets share the last key, all of them are there.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_entries(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, ObjectRef)>, CallError> {
        let edge = self.member_edge(requirement, member, on, None)?;
        Ok(self.hand_entries(edge.entries(self.transaction, on, after, limit)?))
    }

    /// Reads the targets of a keyed edge member at a key: at most one of an edge, any number of an
    /// inverse.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_at(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        key: &str,
    ) -> Result<Vec<ObjectRef>, CallError> {
        let edge = self.member_edge(requirement, member, on, None)?;
        Ok(self.hand_all(edge.at(self.transaction, on, key)?))
    }

    /// Reads at most `limit` events of a stream member from an offset on.
    ///
    /// # Errors
    /// As [`Call::member_get`].
    pub fn member_read<T: DeserializeOwned>(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        from: u64,
        limit: usize,
    ) -> Result<Vec<T>, CallError> {
        let (served, atom) = self.member(requirement, member, Verb::Read, on)?;
        match served {
            Served::Stream(at) => {
                self.note(Verb::Read, requirement, Some(member), on);
                self.read_stream(&atom.streams[at], on, from, limit)
            }
            Served::State(_)
            | Served::Edge(_)
            | Served::Inverse(_)
            | Served::Operation(_)
            | Served::Append(_) => Err(self.no_such_member(requirement, Verb::Read, on)),
        }
    }

    /// Calls an operation member, within this transaction. If it fails, what it wrote is gone, and
    /// this call may go on.
    ///
    /// # Errors
    /// `capability`, and whatever the operation answers.
    pub fn member_call<I: Serialize + ?Sized, O: DeserializeOwned>(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        input: &I,
    ) -> Result<O, CallError> {
        let (served, atom) = self.member(requirement, member, Verb::Call, on)?;
        let input = encoded(input)?;
        match served {
            Served::Operation(at) => {
                let operation = self.model.operation(at);
                let inner = Handed::new(on);
                admit(&operation.input, &input, |_, reference| {
                    inner.add(reference);
                    self.require(reference, requirement, Verb::Call)
                })?;
                let called = Called::open(self.transaction, self.model, at, on)?;
                self.note(Verb::Call, requirement, Some(member), on);
                let output = called.run(&input, inner)?;
                self.take(&operation.output, &output, &operation.id)?;
                stored(&output, || format!("the output of `{}`", operation.id))
            }
            Served::Append(at) => {
                self.writable(requirement, Verb::Call)?;
                let slot = &atom.streams[at];
                self.give(&slot.layout, &input, requirement, Verb::Call)?;
                self.note(Verb::Call, requirement, Some(member), on);
                let transaction = self.transaction;
                let offset = transaction.whole(|| stream::append(transaction, on, slot, &input))?;
                stored(&encoded(&offset)?, || format!("the offset in `{}`", slot.name))
            }
            Served::State(_) | Served::Edge(_) | Served::Inverse(_) | Served::Stream(_) => {
                Err(self.no_such_member(requirement, Verb::Call, on))
            }
        }
    }
}
