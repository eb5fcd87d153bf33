//! One call of an operation, as its handler sees it.
//!
//! A handler has no other way to the store than its [`Call`]; generated contexts are thin clothes
//! over it. `requirement` and `member` are positions in the definition. Every method checks again
//! what the generated context has checked when it compiled: that the requirement is of this kind,
//! that it grants the verb, and that every reference named was handed to this call.
//!
//! What was handed: the receiver, the references in the input, what the call created, and the
//! references in whatever a granted requirement answered. Nothing is handed by being known.
//!
//! Start at [`invoke`], which every call goes through, from outside or nested.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use quixos_schema::{Execution, OperationIndex, Served, Verb};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::capability::{EdgePlace, GrantKind, Handed, Members, Plan, denied};
use crate::edge;
use crate::error::CallError;
use crate::model::{AtomModel, Model, OperationModel, StreamModel};
use crate::object::{self, encoded, stored};
use crate::reference::ObjectRef;
use crate::resolve::{self, Resolved};
use crate::stream;
use crate::trace::Step;
use crate::transaction::{Access, Transaction, within};
use crate::value::{Expected, Layout, Path, ValueError};

/// A call of an operation that is under way.
pub struct Call<'t> {
    transaction: &'t Transaction<'t>,
    model: &'t Model,
    operation: &'t OperationModel,
    plan: &'t Plan,
    atom: &'t AtomModel,
    receiver: ObjectRef,
    handed: Handed,
}

/// Calls an operation within a transaction. The input was checked against its type, and `handed`
/// has its references. What it wrote is taken back if it fails, or panics.
pub(crate) fn invoke(
    transaction: &Transaction<'_>,
    model: &Model,
    at: OperationIndex,
    receiver: ObjectRef,
    input: &[u8],
    handed: Handed,
) -> Result<Vec<u8>, CallError> {
    let operation = model.operation(at);
    let (Some(plan), Some(atom)) = (model.plan(at, receiver.atom), model.atom_of(receiver.atom))
    else {
        let why = "the receiver's atom does not bind the operation";
        return Err(denied(&operation.id, "receiver", Verb::Call, Some(receiver), why));
    };
    if !operation.here {
        let why = "this host is not one of the operation's targets";
        return Err(denied(&operation.id, "targets", Verb::Call, Some(receiver), why));
    }
    if transaction.circumstances().access == Access::Read
        && operation.execution == Execution::Transaction
    {
        let why = "a query cannot call an operation that may write";
        return Err(denied(&operation.id, "execution", Verb::Call, Some(receiver), why));
    }
    within("bytes in an input", transaction.circumstances().limits.input, input.len())?;
    let savepoint = transaction.enter()?;
    let call = Call { transaction, model, operation, plan, atom, receiver, handed };
    // Unwinding is safe: all that the handler can have changed is taken back below.
    let answered = catch_unwind(AssertUnwindSafe(|| (operation.handler)(&call, input)))
        .unwrap_or_else(|panic| Err(panicked(&operation.id, panic.as_ref())))
        .and_then(|output| call.answer(output));
    transaction.leave(&savepoint, answered.is_err());
    answered
}

fn panicked(operation: &str, panic: &(dyn std::any::Any + Send)) -> CallError {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".into());
    tracing::error!(operation, said, "a handler panicked");
    CallError::Unavailable { message: format!("`{operation}` broke off: {said}") }
}

/// What a walk over a value's references can end with.
enum Found {
    Malformed(ValueError),
    Refused(CallError),
}

impl From<ValueError> for Found {
    fn from(error: ValueError) -> Self {
        Self::Malformed(error)
    }
}

impl From<CallError> for Found {
    fn from(error: CallError) -> Self {
        Self::Refused(error)
    }
}

/// Walks over a value that comes in: it must be of its type, its references to the right atoms.
pub(crate) fn admit(
    layout: &Layout,
    bytes: &[u8],
    mut visit: impl FnMut(&Path<'_>, ObjectRef) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let walked = layout.walk(bytes, |path, reference, expected: &Expected| {
        if !expected.accepts(reference) {
            let message = format!("must lead to {}, leads to {reference:?}", expected.noun());
            return Err(Found::Refused(CallError::invalid(path.to_string(), message)));
        }
        visit(path, reference).map_err(Found::Refused)
    });
    walked.map_err(|found| match found {
        Found::Malformed(error) => error.invalid(),
        Found::Refused(error) => error,
    })
}

impl<'t> Call<'t> {
    /// Returns the object that the operation was called on.
    #[must_use]
    pub fn receiver(&self) -> ObjectRef {
        self.receiver
    }

    /// Returns the transaction's one instant.
    #[must_use]
    pub fn instant(&self) -> DateTime<Utc> {
        self.transaction.circumstances().instant
    }

    /// Returns who called from outside.
    #[must_use]
    pub fn actor(&self) -> &str {
        self.transaction.circumstances().actor
    }

    /// Returns the canonical text of a reference: the atom's id, `/`, the object's id.
    #[must_use]
    pub fn reference_text(&self, reference: ObjectRef) -> String {
        self.model.text(reference)
    }

    /// Reads a state slot of the receiver.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn state_read<T: DeserializeOwned>(&self, requirement: usize) -> Result<T, CallError> {
        let at = self.state(requirement, Verb::Read)?;
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
        object::write_state(self.transaction, self.atom, self.receiver, at, bytes)
    }

    /// Reads the target of an edge of the receiver with exactly one.
    ///
    /// # Errors
    /// `capability`, or that the store cannot be read.
    pub fn edge_one(&self, requirement: usize) -> Result<ObjectRef, CallError> {
        let edge = self.edge(requirement)?;
        Ok(self.hand(edge.one(self.transaction, self.receiver)?))
    }

    /// Reads the target of an edge of the receiver with at most one.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_optional(&self, requirement: usize) -> Result<Option<ObjectRef>, CallError> {
        let edge = self.edge(requirement)?;
        Ok(edge.optional(self.transaction, self.receiver)?.map(|target| self.hand(target)))
    }

    /// Tells whether a set of the receiver holds a target.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_contains(&self, requirement: usize, target: ObjectRef) -> Result<bool, CallError> {
        let edge = self.edge(requirement)?;
        self.require(target, requirement, Verb::Resolve)?;
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
        let edge = self.edge(requirement)?;
        let targets = edge.page(self.transaction, self.receiver, after, limit)?;
        Ok(self.hand_all(targets))
    }

    /// Reads the target of a map of the receiver at a key.
    ///
    /// # Errors
    /// As [`Call::edge_one`].
    pub fn edge_at(&self, requirement: usize, key: &str) -> Result<Option<ObjectRef>, CallError> {
        let edge = self.edge(requirement)?;
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
        let edge = self.edge(requirement)?;
        let entries = edge.entries(self.transaction, self.receiver, after, limit)?;
        Ok(self.hand_entries(entries))
    }

    /// Connects a target. Tells whether it is new.
    ///
    /// # Errors
    /// `capability`; `conflict` when the edge holds at most one target and another is there.
    pub fn edge_connect(&self, requirement: usize, target: ObjectRef) -> Result<bool, CallError> {
        let at = self.stored_edge(requirement, Verb::Connect)?;
        self.require(target, requirement, Verb::Connect)?;
        edge::connect(self.transaction, self.atom, self.receiver, at, None, target)
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
        let at = self.stored_edge(requirement, Verb::Connect)?;
        self.require(target, requirement, Verb::Connect)?;
        edge::connect(self.transaction, self.atom, self.receiver, at, Some(key), target)
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
        let at = self.stored_edge(requirement, Verb::Disconnect)?;
        self.require(target, requirement, Verb::Disconnect)?;
        edge::disconnect(self.transaction, self.atom, self.receiver, at, target)
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
        let at = self.stored_edge(requirement, Verb::Disconnect)?;
        let found = edge::disconnect_at(self.transaction, self.atom, self.receiver, at, key)?;
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
        let created = object::create(self.transaction, self.model, creation, &bytes)?;
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
        stream::append(self.transaction, self.receiver, slot, &bytes)
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
        self.read_stream(slot, self.receiver, from, limit)
    }

    /// Returns how many events a stream of the receiver has.
    ///
    /// # Errors
    /// As [`Call::stream_read`].
    pub fn stream_len(&self, requirement: usize) -> Result<u64, CallError> {
        let slot = self.stream(requirement, Verb::Read)?;
        stream::length(self.transaction, self.receiver, slot)
    }

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
            Served::State(at) => self.read_state(atom, at, on),
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
        let edge = self.member_edge(requirement, member, on)?;
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
        let edge = self.member_edge(requirement, member, on)?;
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
        let edge = self.member_edge(requirement, member, on)?;
        self.require(target, requirement, Verb::Resolve)?;
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
        let edge = self.member_edge(requirement, member, on)?;
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
        let edge = self.member_edge(requirement, member, on)?;
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
        let edge = self.member_edge(requirement, member, on)?;
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
            Served::Stream(at) => self.read_stream(&atom.streams[at], on, from, limit),
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
                let output = invoke(self.transaction, self.model, at, on, &input, inner)?;
                self.take(&operation.output, &output, &operation.id)?;
                stored(&output, || format!("the output of `{}`", operation.id))
            }
            Served::Append(at) => {
                self.writable(requirement, Verb::Call)?;
                let slot = &atom.streams[at];
                self.give(&slot.layout, &input, requirement, Verb::Call)?;
                let offset = stream::append(self.transaction, on, slot, &input)?;
                stored(&encoded(&offset)?, || format!("the offset in `{}`", slot.name))
            }
            Served::State(_) | Served::Edge(_) | Served::Inverse(_) | Served::Stream(_) => {
                Err(self.no_such_member(requirement, Verb::Call, on))
            }
        }
    }

    /// Checks an output before it leaves: of its type, and with no reference that was not handed.
    fn answer(&self, output: Vec<u8>) -> Result<Vec<u8>, CallError> {
        within("bytes in an output", self.transaction.circumstances().limits.value, output.len())?;
        admit(&self.operation.output, &output, |_, reference| {
            if self.handed.contains(reference) {
                return Ok(());
            }
            let why = "the reference was not handed to this call";
            Err(denied(&self.operation.id, "output", Verb::Call, Some(reference), why))
        })?;
        Ok(output)
    }

    fn grant(&self, requirement: usize, verb: Verb) -> Result<&'t GrantKind, CallError> {
        match self.plan.grants.get(requirement) {
            Some(grant) => Ok(&grant.kind),
            None => Err(self.denied(requirement, verb, None, "there is no such requirement")),
        }
    }

    fn denied(
        &self,
        requirement: usize,
        verb: Verb,
        reference: Option<ObjectRef>,
        why: &str,
    ) -> CallError {
        let name = self.plan.grants.get(requirement).map_or("?", |grant| &grant.name);
        denied(&self.operation.id, name, verb, reference, why)
    }

    fn check_verb(&self, verbs: &[Verb], requirement: usize, verb: Verb) -> Result<(), CallError> {
        if verbs.contains(&verb) {
            return Ok(());
        }
        Err(self.denied(requirement, verb, None, "the verb is not granted"))
    }

    /// Refuses to write to an operation that runs as a query.
    fn writable(&self, requirement: usize, verb: Verb) -> Result<(), CallError> {
        match self.operation.execution {
            Execution::Transaction => Ok(()),
            Execution::Query => Err(self.denied(requirement, verb, None, "a query does not write")),
        }
    }

    fn state(&self, requirement: usize, verb: Verb) -> Result<usize, CallError> {
        let GrantKind::State { slot, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no state"));
        };
        self.check_verb(verbs, requirement, verb)?;
        if verb == Verb::Write {
            self.writable(requirement, verb)?;
        }
        self.note(verb, requirement, None, self.receiver);
        Ok(*slot)
    }

    fn edge(&self, requirement: usize) -> Result<Resolved<'t>, CallError> {
        let GrantKind::Edge { edge, verbs } = self.grant(requirement, Verb::Resolve)? else {
            return Err(self.denied(requirement, Verb::Resolve, None, "it is no edge"));
        };
        self.check_verb(verbs, requirement, Verb::Resolve)?;
        self.note(Verb::Resolve, requirement, None, self.receiver);
        Ok(resolve::place(self.model, self.atom, *edge))
    }

    /// Returns the position of an edge that may be changed.
    fn stored_edge(&self, requirement: usize, verb: Verb) -> Result<usize, CallError> {
        let GrantKind::Edge { edge, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no edge"));
        };
        self.check_verb(verbs, requirement, verb)?;
        self.writable(requirement, verb)?;
        match edge {
            EdgePlace::Edge(at) => {
                self.note(verb, requirement, None, self.receiver);
                Ok(*at)
            }
            EdgePlace::Inverse(_) => {
                Err(self.denied(requirement, verb, None, "an inverse is kept by the runtime"))
            }
        }
    }

    fn stream(&self, requirement: usize, verb: Verb) -> Result<&'t StreamModel, CallError> {
        let GrantKind::Stream { slot, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no stream"));
        };
        self.check_verb(verbs, requirement, verb)?;
        if verb == Verb::Append {
            self.writable(requirement, verb)?;
        }
        self.note(verb, requirement, None, self.receiver);
        Ok(&self.atom.streams[*slot])
    }

    fn member(
        &self,
        requirement: usize,
        member: usize,
        verb: Verb,
        on: ObjectRef,
    ) -> Result<(Served, &'t AtomModel), CallError> {
        let GrantKind::Interface(members) = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, Some(on), "it is no interface"));
        };
        if !members.grants(member, verb) {
            let why = format!("`{}.{verb}` is not granted", members.name(member));
            return Err(self.denied(requirement, verb, Some(on), &why));
        }
        self.require(on, requirement, verb)?;
        let found = members.served(on.atom, member).zip(self.model.atom_of(on.atom));
        let (served, atom) = found.ok_or_else(|| self.no_such_member(requirement, verb, on))?;
        self.note(verb, requirement, Some((members, member)), on);
        Ok((served, atom))
    }

    fn no_such_member(&self, requirement: usize, verb: Verb, on: ObjectRef) -> CallError {
        self.denied(requirement, verb, Some(on), "the object's atom does not serve it so")
    }

    fn member_edge(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
    ) -> Result<Resolved<'t>, CallError> {
        let (served, atom) = self.member(requirement, member, Verb::Resolve, on)?;
        let place = match served {
            Served::Edge(at) => EdgePlace::Edge(at),
            Served::Inverse(at) => EdgePlace::Inverse(at),
            Served::State(_) | Served::Stream(_) | Served::Operation(_) | Served::Append(_) => {
                return Err(self.no_such_member(requirement, Verb::Resolve, on));
            }
        };
        Ok(resolve::place(self.model, atom, place))
    }

    fn read_state<T: DeserializeOwned>(
        &self,
        atom: &AtomModel,
        at: usize,
        object: ObjectRef,
    ) -> Result<T, CallError> {
        let slot = &atom.states[at];
        let bytes = object::state(self.transaction, object, slot)?;
        self.take(&slot.layout, &bytes, &slot.name)?;
        stored(&bytes, || format!("state `{}` of {object:?}", slot.name))
    }

    fn read_stream<T: DeserializeOwned>(
        &self,
        slot: &StreamModel,
        object: ObjectRef,
        from: u64,
        limit: usize,
    ) -> Result<Vec<T>, CallError> {
        let events = stream::events(self.transaction, object, slot, from, limit)?;
        let read = |bytes: &Bytes| {
            self.take(&slot.layout, bytes, &slot.name)?;
            stored(bytes, || format!("an event of `{}` of {object:?}", slot.name))
        };
        events.iter().map(|event| read(&event.bytes)).collect()
    }

    /// Checks that a reference was handed to this call.
    fn require(
        &self,
        reference: ObjectRef,
        requirement: usize,
        verb: Verb,
    ) -> Result<(), CallError> {
        if self.handed.contains(reference) {
            return Ok(());
        }
        let why = "the reference was not handed to this call";
        Err(self.denied(requirement, verb, Some(reference), why))
    }

    /// Checks a value that goes out of the handler: of its type, and with no reference that was
    /// not handed.
    fn give(
        &self,
        layout: &Layout,
        bytes: &[u8],
        requirement: usize,
        verb: Verb,
    ) -> Result<(), CallError> {
        admit(layout, bytes, |_, reference| self.require(reference, requirement, verb))
    }

    /// Hands over the references in a value that a granted requirement answered.
    fn take(&self, layout: &Layout, bytes: &[u8], place: &str) -> Result<(), CallError> {
        layout
            .references(bytes, |_, reference, _| {
                self.handed.add(reference);
                Ok::<(), ValueError>(())
            })
            .map_err(|error| error.corrupt(place))
    }

    fn hand(&self, reference: ObjectRef) -> ObjectRef {
        self.handed.add(reference);
        reference
    }

    fn hand_all(&self, references: Vec<ObjectRef>) -> Vec<ObjectRef> {
        references.iter().for_each(|reference| self.handed.add(*reference));
        references
    }

    fn hand_entries(&self, entries: Vec<(String, ObjectRef)>) -> Vec<(String, ObjectRef)> {
        entries.iter().for_each(|(_, reference)| self.handed.add(*reference));
        entries
    }

    fn note(
        &self,
        verb: Verb,
        requirement: usize,
        member: Option<(&Members, usize)>,
        object: ObjectRef,
    ) {
        self.transaction.note(|| {
            let name = self.plan.grants.get(requirement).map_or("?", |grant| &grant.name);
            Step {
                depth: self.transaction.depth(),
                operation: self.operation.id.clone(),
                verb,
                through: match member {
                    Some((members, at)) => format!("{name}.{}", members.name(at)),
                    None => name.to_owned(),
                },
                object: self.model.text(object),
                undone: false,
            }
        });
    }
}
