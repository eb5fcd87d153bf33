//! The header of an object: when it was created, and where its `one` edges lead.
//!
//! Such an edge is set when the object is created and stays, so it needs no key of its own. Each
//! target stands beside its slot's tag, and they are in the order of the tags. An upgrade may
//! move a slot within its atom, or rename it; its id, and so its tag, it keeps. So a header can
//! be read, and has one form, whichever revision wrote it.
//!
//! Invariant: a header is written once, with its object. An edge that was `one` and has become
//! `optional-one` is still said here for objects of before; what has changed since is said under
//! its own key, see `edge.rs`.

use bytes::Bytes;
use quixos_schema::Tag;
use serde::{Deserialize, Serialize};

use crate::error::CallError;
use crate::object::encoded;
use crate::overlay::Read;
use crate::reference::ObjectRef;

/// What is stored under the key of an object.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    /// The commit that created it.
    pub(crate) commit: u64,
    /// The instant of that commit, in milliseconds since 1970.
    pub(crate) millis: i64,
    /// The targets of its `one` edges, each beside its slot.
    pub(crate) targets: Vec<(Tag, ObjectRef)>,
}

impl Header {
    /// Reads a stored header; nothing when it is malformed.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// Returns what to store.
    pub(crate) fn encode(mut self) -> Result<Bytes, CallError> {
        self.targets.sort_unstable();
        Ok(encoded(&self)?.into())
    }

    /// Returns the target that the header says for a slot.
    pub(crate) fn target(&self, slot: Tag) -> Option<ObjectRef> {
        self.targets.iter().find(|(of, _)| *of == slot).map(|(_, target)| *target)
    }

    /// Tells whether the targets are in their order, each slot once.
    pub(crate) fn is_ordered(&self) -> bool {
        self.targets.is_sorted_by(|(before, _), (after, _)| before < after)
    }
}

/// Finds the target that a stored header says for a slot, without taking all of it apart; an error
/// when it is malformed.
pub(crate) fn target_in(bytes: &[u8], slot: Tag) -> Result<Option<ObjectRef>, Malformed> {
    const TAG: usize = size_of::<Tag>();
    let begin = postcard::take_from_bytes::<(u64, i64, usize)>(bytes).map_err(|_| Malformed)?;
    let ((_, _, count), rest) = begin;
    let (targets, _) = rest.as_chunks::<{ TAG + ObjectRef::LEN }>();
    let targets = targets.get(..count).ok_or(Malformed)?;
    let found = targets.iter().filter_map(|it| it.split_first_chunk::<TAG>());
    let mut found = found.filter(|(of, _)| **of == slot.0);
    let target = found.next().and_then(|(_, target)| target.try_into().ok());
    Ok(target.map(ObjectRef::from_bytes))
}

/// What is stored under the key of an object is no header.
pub(crate) struct Malformed;

/// Reads the header of an object, if it is there.
pub(crate) fn read(read: &impl Read, object: ObjectRef) -> Result<Option<Header>, CallError> {
    let Some(bytes) = read.header(object)? else { return Ok(None) };
    let message = || format!("the header of {object:?} is malformed");
    let header = Header::decode(&bytes);
    header.map(Some).ok_or_else(|| CallError::Corrupt { message: message() })
}
