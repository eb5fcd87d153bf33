//! What is checked of whatever a handler tries: that the requirement is of this kind and grants the
//! verb, and that every reference was handed to this call.

use bytes::Bytes;
use quixos_schema::{Execution, Served, Verb};
use serde::de::DeserializeOwned;

use crate::admit::admit;
use crate::call::Call;
use crate::capability::{EdgePlace, Grant, GrantKind, denied};
use crate::error::CallError;
use crate::model::{AtomModel, StreamModel};
use crate::object::{self, stored};
use crate::reference::ObjectRef;
use crate::resolve::{self, Resolved};
use crate::stream;
use crate::trace::Step;
use crate::value::{Layout, ValueError};

impl<'t> Call<'t> {
    pub(super) fn grant(&self, requirement: usize, verb: Verb) -> Result<&'t GrantKind, CallError> {
        match self.plan.grants.get(requirement) {
            Some(grant) => Ok(&grant.kind),
            None => Err(self.denied(requirement, verb, None, "there is no such requirement")),
        }
    }

    pub(super) fn denied(
        &self,
        requirement: usize,
        verb: Verb,
        reference: Option<ObjectRef>,
        why: &str,
    ) -> CallError {
        let name = self.plan.grants.get(requirement).map_or("?", |grant| &grant.name);
        denied(&self.operation.id, name, verb, reference, why)
    }

    pub(super) fn check_verb(
        &self,
        verbs: &[Verb],
        requirement: usize,
        verb: Verb,
    ) -> Result<(), CallError> {
        if verbs.contains(&verb) {
            return Ok(());
        }
        Err(self.denied(requirement, verb, None, "the verb is not granted"))
    }

    /// Refuses to write to an operation that runs as a query.
    pub(super) fn writable(&self, requirement: usize, verb: Verb) -> Result<(), CallError> {
        match self.operation.execution {
            Execution::Transaction => Ok(()),
            Execution::Query => Err(self.denied(requirement, verb, None, "a query does not write")),
        }
    }

    pub(super) fn state(&self, requirement: usize, verb: Verb) -> Result<usize, CallError> {
        let GrantKind::State { slot, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no state"));
        };
        self.check_verb(verbs, requirement, verb)?;
        if verb == Verb::Write {
            self.writable(requirement, verb)?;
        }
        Ok(*slot)
    }

    /// Returns an edge that may be read, and asked for this target.
    pub(super) fn edge(
        &self,
        requirement: usize,
        target: Option<ObjectRef>,
    ) -> Result<Resolved<'t>, CallError> {
        let GrantKind::Edge { edge, verbs } = self.grant(requirement, Verb::Resolve)? else {
            return Err(self.denied(requirement, Verb::Resolve, None, "it is no edge"));
        };
        self.check_verb(verbs, requirement, Verb::Resolve)?;
        target.map_or(Ok(()), |target| self.require(target, requirement, Verb::Resolve))?;
        self.note(Verb::Resolve, requirement, None, self.receiver);
        Ok(resolve::place(self.model, self.atom, *edge))
    }

    /// Returns the position of an edge that may be changed, with this target.
    pub(super) fn stored_edge(
        &self,
        requirement: usize,
        verb: Verb,
        target: Option<ObjectRef>,
    ) -> Result<usize, CallError> {
        let GrantKind::Edge { edge, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no edge"));
        };
        self.check_verb(verbs, requirement, verb)?;
        self.writable(requirement, verb)?;
        match edge {
            EdgePlace::Edge(at) => {
                target.map_or(Ok(()), |target| self.require(target, requirement, verb))?;
                self.note(verb, requirement, None, self.receiver);
                Ok(*at)
            }
            EdgePlace::Inverse(_) => {
                Err(self.denied(requirement, verb, None, "an inverse is kept by the runtime"))
            }
        }
    }

    pub(super) fn stream(
        &self,
        requirement: usize,
        verb: Verb,
    ) -> Result<&'t StreamModel, CallError> {
        let GrantKind::Stream { slot, verbs } = self.grant(requirement, verb)? else {
            return Err(self.denied(requirement, verb, None, "it is no stream"));
        };
        self.check_verb(verbs, requirement, verb)?;
        if verb == Verb::Append {
            self.writable(requirement, verb)?;
        }
        Ok(&self.atom.streams[*slot])
    }

    pub(super) fn member(
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
        Ok((served, atom))
    }

    pub(super) fn no_such_member(
        &self,
        requirement: usize,
        verb: Verb,
        on: ObjectRef,
    ) -> CallError {
        self.denied(requirement, verb, Some(on), "the object's atom does not serve it so")
    }

    pub(super) fn member_edge(
        &self,
        requirement: usize,
        member: usize,
        on: ObjectRef,
        target: Option<ObjectRef>,
    ) -> Result<Resolved<'t>, CallError> {
        let (served, atom) = self.member(requirement, member, Verb::Resolve, on)?;
        let place = match served {
            Served::Edge(at) => EdgePlace::Edge(at),
            Served::Inverse(at) => EdgePlace::Inverse(at),
            Served::State(_) | Served::Stream(_) | Served::Operation(_) | Served::Append(_) => {
                return Err(self.no_such_member(requirement, Verb::Resolve, on));
            }
        };
        target.map_or(Ok(()), |target| self.require(target, requirement, Verb::Resolve))?;
        self.note(Verb::Resolve, requirement, Some(member), on);
        Ok(resolve::place(self.model, atom, place))
    }

    pub(super) fn read_state<T: DeserializeOwned>(
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

    pub(super) fn read_stream<T: DeserializeOwned>(
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
    pub(super) fn require(
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
    pub(super) fn give(
        &self,
        layout: &Layout,
        bytes: &[u8],
        requirement: usize,
        verb: Verb,
    ) -> Result<(), CallError> {
        admit(layout, bytes, |_, reference| self.require(reference, requirement, verb))
    }

    /// Hands over the references in a value that a granted requirement answered.
    pub(super) fn take(&self, layout: &Layout, bytes: &[u8], place: &str) -> Result<(), CallError> {
        layout
            .references(bytes, |_, reference, _| {
                self.handed.add(reference);
                Ok::<(), ValueError>(())
            })
            .map_err(|error| error.corrupt(place))
    }

    pub(super) fn hand(&self, reference: ObjectRef) -> ObjectRef {
        self.handed.add(reference);
        reference
    }

    pub(super) fn hand_all(&self, references: Vec<ObjectRef>) -> Vec<ObjectRef> {
        references.iter().for_each(|reference| self.handed.add(*reference));
        references
    }

    pub(super) fn hand_entries(
        &self,
        entries: Vec<(String, ObjectRef)>,
    ) -> Vec<(String, ObjectRef)> {
        entries.iter().for_each(|(_, reference)| self.handed.add(*reference));
        entries
    }

    /// Notes that something was used, which must be allowed by then: what was refused leaves no
    /// trace.
    pub(super) fn note(
        &self,
        verb: Verb,
        requirement: usize,
        member: Option<usize>,
        object: ObjectRef,
    ) {
        self.transaction.note(|| Step {
            depth: self.transaction.depth(),
            operation: self.operation.id.clone(),
            verb,
            through: self.through(requirement, member),
            object: self.model.text(object),
            undone: false,
        });
    }

    fn through(&self, requirement: usize, member: Option<usize>) -> String {
        let Some(Grant { name, kind }) = self.plan.grants.get(requirement) else {
            return "?".into();
        };
        match (kind, member) {
            (GrantKind::Interface(members), Some(at)) => format!("{name}.{}", members.name(at)),
            _ => name.clone(),
        }
    }
}
