//! Streams: no gaps, as long as they say, no reader behind the end.

use bytes::Bytes;
use quixos_schema::Tag;

use crate::error::CallError;
use crate::key::{self, Key};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::stream::Head;
use crate::verify::{Check, VerifyKind};

/// A stream whose events are being seen, one after the other.
pub(super) struct Run {
    object: ObjectRef,
    slot: Tag,
    /// The offset behind the last event.
    next: u64,
    /// The commit that appended it.
    commit: u64,
}

impl<R: Read> Check<'_, R> {
    /// Checks the length that a stream says. Events come later in the order of the keys, so here
    /// only the last is looked for; where there are none, nobody else would miss it.
    pub(super) fn stream_length(
        &mut self,
        object: ObjectRef,
        slot: Tag,
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::Stream { object, slot };
        let Some(atom) = self.owner(object, &key)? else { return Ok(()) };
        if !atom.streams.iter().any(|it| it.tag == slot) {
            self.unknown_slot(&key, "stream");
            return Ok(());
        }
        let Some(length) = self.strictly::<u64>(&key, value) else { return Ok(()) };
        let Some(last) = length.checked_sub(1) else {
            let message = "it says 0; a stream without events has no length stored";
            self.found(VerifyKind::StreamLength, self.place(&key), message);
            return Ok(());
        };
        if !self.read.contains(&key::event(object, slot, last))? {
            let message = format!("it says {length}, and event {last} is not there");
            self.found(VerifyKind::StreamLength, self.place(&key), message);
        }
        Ok(())
    }

    pub(super) fn event(
        &mut self,
        object: ObjectRef,
        slot: Tag,
        offset: u64,
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::Event { object, slot, offset };
        let expected = self.stream.as_ref().map_or(0, |run| run.next);
        if offset != expected {
            let message = format!("the event before has offset {}", Before(expected));
            self.found(VerifyKind::StreamGap, self.place(&key), message);
        }
        let before = self.stream.as_ref().map_or(0, |run| run.commit);
        let next = offset.saturating_add(1);
        self.stream = Some(Run { object, slot, next, commit: before });
        let Some(atom) = self.owner(object, &key)? else { return Ok(()) };
        let Some(stream) = atom.streams.iter().find(|it| it.tag == slot) else {
            self.unknown_slot(&key, "stream");
            return Ok(());
        };
        let Ok((Head { commit, millis }, event)) = postcard::take_from_bytes::<Head>(value) else {
            self.found(VerifyKind::Value, self.place(&key), "its head is malformed");
            return Ok(());
        };
        let head = &value[..value.len() - event.len()];
        self.strictly::<Head>(&key, head);
        self.commit(&key, commit, millis)?;
        if commit < before {
            let message = format!("commit {commit} wrote it, and {before} the event before it");
            self.found(VerifyKind::Commit, self.place(&key), message);
        }
        self.stream = Some(Run { object, slot, next, commit });
        let appended = self.history_entry(commit)?.is_none_or(|entry| {
            let this = entry.touched.iter().find(|touched| touched.object == object);
            this.is_some_and(|touched| touched.slots.contains(&slot))
        });
        if !appended {
            let message = format!("commit {commit} did not append to the stream");
            self.found(VerifyKind::Commit, self.place(&key), message);
        }
        self.value(&key, &stream.layout, event)
    }

    /// Checks, where the events of a stream end, that its length is theirs.
    pub(super) fn leave_stream(&mut self, next: &Key<'_>) -> Result<(), CallError> {
        let Some(Run { object, slot, next: length, .. }) = self.stream else { return Ok(()) };
        if matches!(next, Key::Event { object: o, slot: s, .. } if (*o, *s) == (object, slot)) {
            return Ok(());
        }
        self.stream = None;
        let key = Key::Stream { object, slot };
        let checked = self.read.get(&key::stream(object, slot)).map(|stored| {
            let said = stored.map(|bytes| postcard::from_bytes::<u64>(&bytes));
            match said {
                Some(Ok(said)) if said == length => {}
                // Malformed: found at its own key.
                Some(Err(_)) => {}
                Some(Ok(said)) => {
                    let message = format!("it says {said}, its events go up to {length}");
                    self.found(VerifyKind::StreamLength, self.place(&key), message);
                }
                None => {
                    let message = format!("it says nothing, its events go up to {length}");
                    self.found(VerifyKind::StreamLength, self.place(&key), message);
                }
            }
        });
        self.unless_damaged(&key, checked)
    }

    pub(super) fn cursor(
        &mut self,
        object: ObjectRef,
        slot: Tag,
        name: &str,
        value: &Bytes,
    ) -> Result<(), CallError> {
        let key = Key::Cursor { object, slot, name: name.into() };
        let Some(atom) = self.owner(object, &key)? else { return Ok(()) };
        if !atom.streams.iter().any(|it| it.tag == slot) {
            self.unknown_slot(&key, "stream");
            return Ok(());
        }
        if name.is_empty() {
            self.found(VerifyKind::Cursor, self.place(&key), "it has no name");
        }
        let Some(offset) = self.strictly::<u64>(&key, value) else { return Ok(()) };
        let stored = self.read.get(&key::stream(object, slot))?;
        let length = stored.map_or(Ok(0), |bytes| postcard::from_bytes::<u64>(&bytes));
        match length {
            Ok(length) if offset > length => {
                let message = format!("it stands at {offset}, the stream ends at {length}");
                self.found(VerifyKind::Cursor, self.place(&key), message);
            }
            // Malformed: found at its own key.
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }
}

/// The offset before one, in words.
struct Before(u64);

impl std::fmt::Display for Before {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0.checked_sub(1) {
            Some(before) => before.fmt(f),
            None => f.write_str("none: this is the first"),
        }
    }
}
