//! Edges as they are stored with their source. Each has an entry at its target too: `inverse.rs`.
//!
//! `one` is set at creation and never changed. `optional-one` holds at most one target:
//! connecting another while one is there is the error `conflict`. A set holds each target once, a
//! map one target a key, and another at the same key is a `conflict`. Connecting what is connected
//! and disconnecting what is not change nothing and say so.

use std::ops::Bound;

use bytes::Bytes;
use quixos_schema::Cardinality;

use crate::error::CallError;
use crate::inverse;
use crate::key;
use crate::model::{AtomModel, EdgeModel};
use crate::object::stored;
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::transaction::{Transaction, within};

/// Reads the target of an edge with at most one.
pub(crate) fn target(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
) -> Result<Option<ObjectRef>, CallError> {
    let found = read.get(&key::edge(source, edge.tag, &[]))?;
    found.map(|bytes| reference(&bytes, source, edge)).transpose()
}

/// Reads the target of an edge with exactly one.
pub(crate) fn only(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
) -> Result<ObjectRef, CallError> {
    target(read, source, edge)?.ok_or_else(|| CallError::Corrupt {
        message: format!("{source:?} has no target of `{}`", edge.name),
    })
}

/// Tells whether a set holds a target.
pub(crate) fn contains(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    target: ObjectRef,
) -> Result<bool, CallError> {
    read.contains(&key::edge(source, edge.tag, &key::at_target(target)))
}

/// Reads at most `limit` targets of a set behind `after`, in the order of their ids.
pub(crate) fn page(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    after: Option<ObjectRef>,
    limit: usize,
) -> Result<Vec<ObjectRef>, CallError> {
    let prefix = key::edge(source, edge.tag, &[]);
    let after = after.map(|target| key::edge(source, edge.tag, &key::at_target(target)));
    let start = after.as_deref().map(Bound::Excluded);
    let entries = read.begin_with(&prefix, start, limit)?;
    let target = |(key, _): &(Bytes, Bytes)| {
        key::target_at(&key[prefix.len()..]).ok_or_else(|| malformed(source, edge))
    };
    entries.iter().map(target).collect()
}

/// Reads the target of a map at a key.
pub(crate) fn at(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    at: &str,
) -> Result<Option<ObjectRef>, CallError> {
    let found = read.get(&key::edge(source, edge.tag, at.as_bytes()))?;
    found.map(|bytes| reference(&bytes, source, edge)).transpose()
}

/// Reads at most `limit` keys and targets of a map behind the key `after`, in the order of the
/// keys.
pub(crate) fn entries(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<(String, ObjectRef)>, CallError> {
    let prefix = key::edge(source, edge.tag, &[]);
    let after = after.map(|at| key::edge(source, edge.tag, at.as_bytes()));
    let start = after.as_deref().map(Bound::Excluded);
    let entries = read.begin_with(&prefix, start, limit)?;
    let entry = |(key, value): &(Bytes, Bytes)| {
        let at = std::str::from_utf8(&key[prefix.len()..]).map_err(|_| malformed(source, edge))?;
        Ok((at.to_owned(), reference(value, source, edge)?))
    };
    entries.iter().map(entry).collect()
}

/// Connects a target; at a key if the edge is keyed. Tells whether it is new.
pub(crate) fn connect(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    position: usize,
    at: Option<&str>,
    target: ObjectRef,
) -> Result<bool, CallError> {
    let edge = &atom.edges[position];
    if !edge.expected.accepts(target) {
        let message = format!("{target:?} is not {}", edge.expected.noun());
        return Err(CallError::invalid(&edge.name, message));
    }
    let (at, value) = place(transaction, edge, at, target)?;
    let key = key::edge(source, edge.tag, &at);
    match transaction.get(&key)? {
        Some(there) if there == value => return Ok(false),
        Some(there) => {
            let there = reference(&there, source, edge)?;
            let message = format!("`{}` leads to {there:?}, not {target:?}", edge.name);
            return Err(CallError::Conflict { message });
        }
        None => {}
    }
    transaction.put(key, value)?;
    let at = if edge.keyed { at.as_slice() } else { &[] };
    inverse::add(transaction, atom, source, edge, target, at)?;
    Ok(true)
}

/// Returns what names a target within its slot, and what is stored there.
fn place(
    transaction: &Transaction<'_>,
    edge: &EdgeModel,
    at: Option<&str>,
    target: ObjectRef,
) -> Result<(Vec<u8>, Bytes), CallError> {
    let whole = || Bytes::copy_from_slice(&target.to_bytes());
    match (edge.cardinality, edge.keyed, at) {
        (Cardinality::ManyUnique, true, Some(at)) => {
            within("bytes in a key", transaction.circumstances().limits.key, at.len())?;
            Ok((at.as_bytes().to_vec(), whole()))
        }
        (Cardinality::ManyUnique, false, None) => {
            Ok((key::at_target(target).to_vec(), Bytes::new()))
        }
        (Cardinality::One | Cardinality::OptionalOne, false, None) => Ok((Vec::new(), whole())),
        (_, true, None) => Err(CallError::invalid(&edge.name, "a keyed edge needs a key")),
        (_, _, Some(_)) => Err(CallError::invalid(&edge.name, "the edge has no keys")),
    }
}

/// Disconnects the target of an edge with at most one, or a target of a set. Tells whether it was
/// there.
pub(crate) fn disconnect(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    position: usize,
    target: ObjectRef,
) -> Result<bool, CallError> {
    let edge = &atom.edges[position];
    let (at, value) = place(transaction, edge, None, target)?;
    let key = key::edge(source, edge.tag, &at);
    if transaction.get(&key)?.is_none_or(|there| there != value) {
        return Ok(false);
    }
    transaction.delete(key)?;
    inverse::remove(transaction, atom, source, edge, target, &[])?;
    Ok(true)
}

/// Disconnects what is at a key of a map, and returns it.
pub(crate) fn disconnect_at(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    position: usize,
    at: &str,
) -> Result<Option<ObjectRef>, CallError> {
    let edge = &atom.edges[position];
    if !edge.keyed {
        return Err(CallError::invalid(&edge.name, "the edge has no keys"));
    }
    let Some(target) = self::at(transaction, source, edge, at)? else { return Ok(None) };
    transaction.delete(key::edge(source, edge.tag, at.as_bytes()))?;
    inverse::remove(transaction, atom, source, edge, target, at.as_bytes())?;
    Ok(Some(target))
}

/// Fills the edge of a new object from the bytes of a field of its creation's input.
pub(crate) fn fill(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    position: usize,
    bytes: &[u8],
) -> Result<(), CallError> {
    let edge = &atom.edges[position];
    let field = || format!("the field for `{}`", edge.name);
    let targets: Vec<(Option<String>, ObjectRef)> = match (edge.cardinality, edge.keyed) {
        (Cardinality::One, _) => vec![(None, stored(bytes, field)?)],
        (Cardinality::OptionalOne, _) => {
            let target: Option<ObjectRef> = stored(bytes, field)?;
            target.into_iter().map(|target| (None, target)).collect()
        }
        (Cardinality::ManyUnique, false) => {
            let targets: Vec<ObjectRef> = stored(bytes, field)?;
            targets.into_iter().map(|target| (None, target)).collect()
        }
        (Cardinality::ManyUnique, true) => {
            let targets: Vec<(String, ObjectRef)> = stored(bytes, field)?;
            targets.into_iter().map(|(at, target)| (Some(at), target)).collect()
        }
    };
    for (at, target) in targets {
        connect(transaction, atom, source, position, at.as_deref(), target)?;
    }
    Ok(())
}

/// Reads at most `limit` targets of any edge with the key of each, empty where it has none.
pub(crate) fn targets(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    limit: usize,
) -> Result<Vec<(String, ObjectRef)>, CallError> {
    let unkeyed = |target| (String::new(), target);
    match (edge.cardinality, edge.keyed) {
        (Cardinality::One | Cardinality::OptionalOne, _) => {
            Ok(target(read, source, edge)?.map(unkeyed).into_iter().collect())
        }
        (Cardinality::ManyUnique, false) => {
            Ok(page(read, source, edge, None, limit)?.into_iter().map(unkeyed).collect())
        }
        (Cardinality::ManyUnique, true) => entries(read, source, edge, None, limit),
    }
}

fn reference(bytes: &[u8], source: ObjectRef, edge: &EdgeModel) -> Result<ObjectRef, CallError> {
    let bytes = bytes.try_into().map_err(|_| malformed(source, edge))?;
    Ok(ObjectRef::from_bytes(bytes))
}

fn malformed(source: ObjectRef, edge: &EdgeModel) -> CallError {
    CallError::Corrupt {
        message: format!("an entry of `{}` of {source:?} is malformed", edge.name),
    }
}
