//! Objects and their state.

use bytes::Bytes;
use quixos_schema::{Cardinality, Tag};

use crate::error::CallError;
use crate::header::Header;
use crate::key::{self, Key};
use crate::meta::Head;
use crate::model::AtomModel;
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::verify::{Check, VerifyKind};

impl<R: Read> Check<'_, R> {
    /// Checks that an object is of a known atom, was created by the commit that says so, and has
    /// all that it must have.
    pub(super) fn object(&mut self, object: ObjectRef, value: &Bytes) -> Result<(), CallError> {
        let key = Key::Object(object);
        let place = self.place(&key);
        let Some(atom) = self.model.atom_of(object.atom) else {
            let message = "no atom of the loaded definitions has this tag";
            self.found(VerifyKind::UnknownAtom, place, message);
            return Ok(());
        };
        self.owner = Some((object, true));
        let header = self.strictly::<Header>(&key, value);
        if let Some(Head { last_id, .. }) = self.head
            && object.id > last_id
        {
            let message = format!("the last id that was given out is {last_id}");
            self.found(VerifyKind::Commit, place, message);
        }
        // What cannot be read for one of these checks does not keep the others from being made.
        let states = self.has_states(object, atom);
        self.unless_damaged(&key, states)?;
        let Some(header) = header else { return Ok(()) };
        let created = self.is_created(object, &header);
        self.unless_damaged(&key, created)?;
        self.targets(object, atom, &header)
    }

    fn is_created(&mut self, object: ObjectRef, header: &Header) -> Result<(), CallError> {
        let Header { commit, millis, .. } = *header;
        let key = Key::Object(object);
        self.commit(&key, commit, millis)?;
        let created = self.history_entry(commit)?.is_none_or(|entry| {
            entry.touched.iter().any(|touched| touched.object == object && touched.created)
        });
        if !created {
            let message = format!("commit {commit} did not create it");
            self.found(VerifyKind::Commit, self.place(&key), message);
        }
        Ok(())
    }

    fn has_states(&mut self, object: ObjectRef, atom: &AtomModel) -> Result<(), CallError> {
        for slot in &atom.states {
            if !slot.may_be_absent() && !self.read.contains(&key::state(object, slot.tag))? {
                let message = format!("it has no state `{}`", slot.name);
                self.found(VerifyKind::MissingState, self.place(&Key::Object(object)), message);
            }
        }
        Ok(())
    }

    /// Checks that the header of an object says of each edge with exactly one target where it
    /// leads, and of no other; but for those that may have none by now.
    fn targets(
        &mut self,
        object: ObjectRef,
        atom: &AtomModel,
        header: &Header,
    ) -> Result<(), CallError> {
        let place = self.place(&Key::Object(object));
        if !header.is_ordered() {
            let message = "the targets in its header are not in the order of their slots' tags";
            self.found(VerifyKind::Value, place.clone(), message);
        }
        for edge in &atom.edges {
            if edge.cardinality == Cardinality::One && header.target(edge.tag).is_none() {
                let message = format!("it has no target of `{}`, which has exactly one", edge.name);
                self.found(VerifyKind::Cardinality, place.clone(), message);
            }
        }
        for (slot, target) in &header.targets {
            self.target_in_header(atom, object, *slot, *target)?;
        }
        Ok(())
    }

    pub(super) fn state(
        &mut self,
        object: ObjectRef,
        slot: Tag,
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::State { object, slot };
        let Some(atom) = self.owner(object, &key)? else { return Ok(()) };
        match atom.states.iter().find(|it| it.tag == slot) {
            Some(slot) => self.value(&key, &slot.layout, value),
            None => {
                self.unknown_slot(&key, "state");
                Ok(())
            }
        }
    }
}
