//! Edges, and their entries at the other end.

use bytes::Bytes;
use quixos_schema::{Cardinality, Tag};

use crate::edge::{self, Single};
use crate::error::CallError;
use crate::key::{self, Key, at_target, target_at};
use crate::model::{AtomModel, EdgeModel};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::verify::{Check, VerifyKind};

impl<R: Read> Check<'_, R> {
    /// Checks an edge that has a key of its own.
    pub(super) fn edge(
        &mut self,
        source: ObjectRef,
        slot: Tag,
        at: &[u8],
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::Edge { source, slot, at: at.into() };
        let Some(atom) = self.owner(source, &key)? else { return Ok(()) };
        let Some(edge) = atom.edges.iter().find(|it| it.tag == slot) else {
            self.unknown_slot(&key, "edge");
            return Ok(());
        };
        if edge.cardinality == Cardinality::One {
            let message = "the edge has exactly one target, which its object's header has";
            self.found(VerifyKind::Value, self.place(&key), message);
            return Ok(());
        }
        let target = match target_of(edge, at, value) {
            Some(target) => target,
            None if self.hides(source, edge, at, value)? => return Ok(()),
            None => {
                let message = "the entry has another form than those of its edge";
                self.found(VerifyKind::Value, self.place(&key), message);
                return Ok(());
            }
        };
        self.leads_to(atom, edge, &key, (source, at), target)
    }

    /// Checks an edge that the header of its object says.
    pub(super) fn target_in_header(
        &mut self,
        atom: &AtomModel,
        source: ObjectRef,
        slot: Tag,
        target: ObjectRef,
    ) -> Result<(), CallError> {
        // Findings name the edge, as if it had a key of its own.
        let key = Key::Edge { source, slot, at: (&[]).into() };
        let checked = self.fixed(atom, &key, (source, slot), target);
        self.unless_damaged(&key, checked)
    }

    fn fixed(
        &mut self,
        atom: &AtomModel,
        key: &Key<'_>,
        (source, slot): (ObjectRef, Tag),
        target: ObjectRef,
    ) -> Result<(), CallError> {
        let Some(edge) = atom.edges.iter().find(|it| it.tag == slot) else {
            self.unknown_slot(key, "edge");
            return Ok(());
        };
        if edge.cardinality == Cardinality::ManyUnique {
            let message = "a header has a target of it, which only edges with one target have";
            self.found(VerifyKind::Value, self.place(key), message);
            return Ok(());
        }
        if edge::single(self.read, source, edge)? == Single::To(target) {
            return self.leads_to(atom, edge, key, (source, &[]), target);
        }
        // It leads elsewhere by now, or nowhere.
        self.reference(key, target, &edge.expected)
    }

    /// Tells whether an entry says nothing but that what the header says no longer holds.
    fn hides(
        &self,
        source: ObjectRef,
        edge: &EdgeModel,
        at: &[u8],
        value: &[u8],
    ) -> Result<bool, CallError> {
        Ok(edge.cardinality == Cardinality::OptionalOne
            && at.is_empty()
            && value.is_empty()
            && edge::in_header(self.read, source, edge)? != Single::Nowhere)
    }

    /// Checks that an edge leads to an object of the right type, and has its entry there.
    fn leads_to(
        &mut self,
        atom: &AtomModel,
        edge: &EdgeModel,
        key: &Key<'_>,
        (source, at): (ObjectRef, &[u8]),
        target: ObjectRef,
    ) -> Result<(), CallError> {
        self.reference(key, target, &edge.expected)?;
        let Some(inverse_key) = self.inverse_key(atom, source, edge, target)? else {
            // The state in which the key should be is missing or malformed, which is found there.
            return Ok(());
        };
        let at = if edge.keyed { at } else { &[] };
        if !self.read.contains(&key::inverse(target, source, edge.tag, &inverse_key, at))? {
            let text = self.model.text(target);
            let message = format!("{text} has no entry of it{}", under(&inverse_key));
            self.found(VerifyKind::MissingInverse, self.place(key), message);
        }
        Ok(())
    }

    /// Checks that an entry belongs to an edge, and has the key that the source's state says.
    pub(super) fn inverse(
        &mut self,
        target: ObjectRef,
        source: ObjectRef,
        slot: Tag,
        (inverse_key, at): (&[u8], &[u8]),
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::Inverse { target, source, slot, key: inverse_key.into(), at: at.into() };
        if !value.is_empty() {
            let message = format!("it holds {} bytes, and should hold none", value.len());
            self.found(VerifyKind::Value, self.place(&key), message);
        }
        let Some(atom) = self.model.atom_of(source.atom) else {
            let message = "no atom of the loaded definitions has the source's tag";
            self.found(VerifyKind::UnknownAtom, self.place(&key), message);
            return Ok(());
        };
        let Some(edge) = atom.edges.iter().find(|it| it.tag == slot) else {
            self.unknown_slot(&key, "edge");
            return Ok(());
        };
        if !self.is_edge(source, edge, at, target)? {
            let message = "the edge that it is the other end of is not there";
            self.found(VerifyKind::StrayInverse, self.place(&key), message);
            return Ok(());
        }
        match self.inverse_key(atom, source, edge, target)? {
            Some(right) if right != inverse_key => {
                let message = format!("it should be{}", under(&right));
                self.found(VerifyKind::InverseKey, self.place(&key), message);
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Tells whether the edge of an entry is there. `at` is its key, where it has one.
    fn is_edge(
        &self,
        source: ObjectRef,
        edge: &EdgeModel,
        at: &[u8],
        target: ObjectRef,
    ) -> Result<bool, CallError> {
        if !edge.keyed && !at.is_empty() {
            return Ok(false);
        }
        if edge.cardinality != Cardinality::ManyUnique {
            return Ok(edge::single(self.read, source, edge)? == Single::To(target));
        }
        let named = at_target(target);
        let at = if edge.keyed { at } else { &named };
        let found = self.read.get(&key::edge(source, edge.tag, at))?;
        Ok(found.and_then(|value| target_of(edge, at, &value)) == Some(target))
    }

    /// Returns the key that an edge's entry must have: empty where its target has no keyed inverse
    /// of it, nothing where the state that has the key cannot be read.
    fn inverse_key(
        &self,
        atom: &AtomModel,
        source: ObjectRef,
        edge: &EdgeModel,
        target: ObjectRef,
    ) -> Result<Option<Vec<u8>>, CallError> {
        let Some(path) = edge.inverse_keys.get(&target.atom) else { return Ok(Some(Vec::new())) };
        let slot = &atom.states[path.state];
        let Some(state) = self.read.get(&key::state(source, slot.tag))? else { return Ok(None) };
        let found = slot.layout.string_at(&state, &path.fields);
        Ok(found.ok().map(|key| key.as_bytes().to_vec()))
    }
}

/// Returns where an edge's entry leads; nothing when it is not of the edge's form.
fn target_of(edge: &EdgeModel, at: &[u8], value: &[u8]) -> Option<ObjectRef> {
    let stored = || value.try_into().ok().map(ObjectRef::from_bytes);
    match (edge.cardinality, edge.keyed) {
        (Cardinality::OptionalOne, _) if at.is_empty() => stored(),
        (Cardinality::One | Cardinality::OptionalOne, _) => None,
        (Cardinality::ManyUnique, false) if value.is_empty() => target_at(at),
        (Cardinality::ManyUnique, false) => None,
        (Cardinality::ManyUnique, true) => {
            if std::str::from_utf8(at).is_ok() {
                stored()
            } else {
                None
            }
        }
    }
}

fn under(key: &[u8]) -> String {
    match key {
        [] => " without a key".into(),
        key => format!(" under the key `{}`", String::from_utf8_lossy(key)),
    }
}
