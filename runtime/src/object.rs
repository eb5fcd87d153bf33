//! Objects: that they exist, what they hold, how they come to be.
//!
//! An object is created with all its state and edges at once, and never deleted; so a reference
//! that once led to an object always does.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use quixos_schema::Fill;
use serde::{Deserialize, Serialize};

use crate::clock::from_millis;
use crate::edge;
use crate::error::CallError;
use crate::header::{self, Header};
use crate::inverse;
use crate::key;
use crate::model::{AtomModel, CreationModel, Model, StateModel};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::transaction::{Transaction, within};
use crate::value::{Layout, Shape, ValueError};

/// When an object was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Created {
    /// The commit that created it.
    pub commit: u64,
    /// The instant of that commit.
    pub instant: DateTime<Utc>,
}

/// Tells whether an object is there.
pub(crate) fn exists(read: &impl Read, object: ObjectRef) -> Result<bool, CallError> {
    Ok(read.header(object)?.is_some())
}

/// Returns when an object was created, if it is there.
pub(crate) fn created(read: &impl Read, object: ObjectRef) -> Result<Option<Created>, CallError> {
    let header = header::read(read, object)?;
    Ok(header.map(|it| Created { commit: it.commit, instant: from_millis(it.millis) }))
}

/// Reads a state slot.
pub(crate) fn state(
    read: &impl Read,
    object: ObjectRef,
    slot: &StateModel,
) -> Result<Bytes, CallError> {
    match read.get(&key::state(object, slot.tag))? {
        Some(bytes) => Ok(bytes),
        None if slot.may_be_absent() => Ok(NOTHING),
        None => {
            let message = format!("{object:?} has no state `{}`", slot.name);
            Err(CallError::Corrupt { message })
        }
    }
}

/// The bytes of an optional without a value.
const NOTHING: Bytes = Bytes::from_static(&[0]);

/// Writes a state slot, and moves the inverse entries whose keys are in it. The bytes are of the
/// slot's type.
pub(crate) fn write_state(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    object: ObjectRef,
    at: usize,
    bytes: Vec<u8>,
) -> Result<(), CallError> {
    let slot = &atom.states[at];
    within("bytes in a value", transaction.circumstances().limits.value, bytes.len())?;
    let key = key::state(object, slot.tag);
    if !slot.keys.is_empty() {
        let before = state(transaction, object, slot)?;
        inverse::moved(transaction, atom, object, slot, &before, &bytes)?;
    }
    transaction.put(key, bytes.into())
}

/// Creates an object from the bytes of its creation's input, which were checked.
pub(crate) fn create(
    transaction: &Transaction<'_>,
    model: &Model,
    creation: &CreationModel,
    input: &[u8],
) -> Result<ObjectRef, CallError> {
    let atom = model.atom(creation.atom);
    let object = ObjectRef { atom: atom.tag, id: transaction.new_id()? };
    let circumstances = transaction.circumstances();
    let parts = parts(&creation.input, input)?;
    let filled = || creation.fills.iter().zip(&parts);
    let mut targets = Vec::new();
    for (fill, part) in filled() {
        if let Fill::Edge(at) = fill {
            targets.extend(edge::fixed(&atom.edges[*at], part)?);
        }
    }
    let millis = circumstances.instant.timestamp_millis();
    let header = Header { commit: circumstances.commit, millis, targets };
    transaction.put(key::object(object), header.encode()?)?;
    // States first: the inverse keys of the edges are found in them.
    for (fill, part) in filled() {
        if let Fill::State(at) = fill {
            within("bytes in a value", circumstances.limits.value, part.len())?;
            let key = key::state(object, atom.states[*at].tag);
            transaction.put(key, Bytes::copy_from_slice(part))?;
        }
    }
    for (fill, part) in filled() {
        if let Fill::Edge(at) = fill {
            edge::fill(transaction, atom, object, *at, part)?;
        }
    }
    Ok(object)
}

/// Cuts the bytes of a creation's input into those of its fields.
fn parts<'b>(layout: &Layout, input: &'b [u8]) -> Result<Vec<&'b [u8]>, CallError> {
    if matches!(layout.shape(), Shape::Unit) {
        return Ok(Vec::new());
    }
    layout.fields(input).map_err(ValueError::invalid)
}

/// Reads a structure of the runtime's own from the store.
pub(crate) fn stored<'b, T: Deserialize<'b>>(
    bytes: &'b [u8],
    place: impl FnOnce() -> String,
) -> Result<T, CallError> {
    postcard::from_bytes(bytes)
        .map_err(|error| CallError::Corrupt { message: format!("{}: {error}", place()) })
}

/// Makes the bytes of a value or a structure of the runtime's own.
pub(crate) fn encoded<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CallError> {
    crate::scratch::encoded(value).map_err(|error| CallError::invalid("$", error.to_string()))
}
