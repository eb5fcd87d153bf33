//! Edges, and their entries at the other end.

use bytes::Bytes;
use quixos_schema::{Cardinality, Tag};

use crate::error::CallError;
use crate::key::{self, Key, at_target, target_at};
use crate::model::{AtomModel, EdgeModel};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::verify::{Check, VerifyKind};

impl<R: Read> Check<'_, R> {
    /// Checks that an edge leads to an object of the right type, and has its entry there.
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
        let Some(target) = target_of(edge, at, value) else {
            let message = "the entry has another form than those of its edge";
            self.found(VerifyKind::Value, self.place(&key), message);
            return Ok(());
        };
        self.reference(&key, target, &edge.expected)?;
        let Some(inverse_key) = self.inverse_key(atom, source, edge, target)? else {
            // The state in which the key should be is missing or malformed, which is found there.
            return Ok(());
        };
        let at = if edge.keyed { at } else { &[] };
        if !self.read.contains(&key::inverse(target, source, slot, &inverse_key, at))? {
            let text = self.model.text(target);
            let message = format!("{text} has no entry of it{}", under(&inverse_key));
            self.found(VerifyKind::MissingInverse, self.place(&key), message);
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
        let set = edge.cardinality == Cardinality::ManyUnique && !edge.keyed;
        let named = at_target(target);
        let at = if set { &named } else { at };
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
        (Cardinality::One | Cardinality::OptionalOne, _) if at.is_empty() => stored(),
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
