//! Edges as they are stored with their source. Each has an entry at its target too: `inverse.rs`.
//!
//! `one` is set at creation and never changed: the header of the source has its target, see
//! `header.rs`. All others have keys of their own. `optional-one` holds at most one target:
//! connecting another while one is there is the error `conflict`. A set holds each target once, a
//! map one target a key, and another at the same key is a `conflict`. Connecting what is connected
//! and disconnecting what is not change nothing and say so.
//!
//! Definitions may make an `optional-one` of a `one`. Objects of before keep its target in their
//! header, and it holds until there is an entry under the edge's own key: another target, or
//! nothing at all for one that was disconnected. [`single`] alone knows where such an edge lies.

use std::ops::Bound;

use bytes::Bytes;
use quixos_schema::{Cardinality, Tag};

use crate::error::CallError;
use crate::header::{self, Malformed};
use crate::inverse;
use crate::key;
use crate::model::{AtomModel, EdgeModel};
use crate::object::stored;
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::transaction::{Transaction, within};

/// Where an edge with at most one target leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Single {
    /// To this object.
    To(ObjectRef),
    /// To none.
    Nowhere,
    /// What says so is malformed.
    Malformed,
}

/// Reads where an edge with at most one target leads.
pub(crate) fn single(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
) -> Result<Single, CallError> {
    let own = match edge.cardinality {
        Cardinality::One => None,
        Cardinality::OptionalOne | Cardinality::ManyUnique => {
            read.get(&key::edge(source, edge.tag, &[]))?
        }
    };
    match own {
        Some(bytes) if bytes.is_empty() => Ok(Single::Nowhere),
        Some(bytes) => Ok(bytes
            .as_ref()
            .try_into()
            .map_or(Single::Malformed, |bytes| Single::To(ObjectRef::from_bytes(bytes)))),
        None => in_header(read, source, edge),
    }
}

/// Reads where the header of the source says that an edge leads.
pub(crate) fn in_header(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
) -> Result<Single, CallError> {
    let Some(bytes) = read.header(source)? else { return Ok(Single::Nowhere) };
    Ok(match header::target_in(&bytes, edge.tag) {
        Ok(target) => target.map_or(Single::Nowhere, Single::To),
        Err(Malformed) => Single::Malformed,
    })
}

/// Reads the target of an edge with at most one.
pub(crate) fn target(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
) -> Result<Option<ObjectRef>, CallError> {
    match single(read, source, edge)? {
        Single::To(target) => Ok(Some(target)),
        Single::Nowhere => Ok(None),
        Single::Malformed => Err(malformed(source, edge)),
    }
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
    target_at(read, source, edge, at.as_bytes())
}

fn target_at(
    read: &impl Read,
    source: ObjectRef,
    edge: &EdgeModel,
    at: &[u8],
) -> Result<Option<ObjectRef>, CallError> {
    let found = read.get(&key::edge(source, edge.tag, at))?;
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
    accepts(edge, target)?;
    let (at, value) = place(transaction, edge, at, target)?;
    let there = match (edge.cardinality, edge.keyed) {
        (Cardinality::One | Cardinality::OptionalOne, _) => {
            self::target(transaction, source, edge)?
        }
        (Cardinality::ManyUnique, false) => {
            contains(transaction, source, edge, target)?.then_some(target)
        }
        (Cardinality::ManyUnique, true) => target_at(transaction, source, edge, &at)?,
    };
    match there {
        Some(there) if there == target => return Ok(false),
        Some(there) => {
            let message = format!("`{}` leads to {there:?}, not {target:?}", edge.name);
            return Err(CallError::Conflict { message });
        }
        None => {}
    }
    transaction.put(key::edge(source, edge.tag, &at), value)?;
    let at = if edge.keyed { at.as_slice() } else { &[] };
    inverse::add(transaction, atom, source, edge, target, at)?;
    Ok(true)
}

fn accepts(edge: &EdgeModel, target: ObjectRef) -> Result<(), CallError> {
    if edge.expected.accepts(target) {
        return Ok(());
    }
    let message = format!("{target:?} is not {}", edge.expected.noun());
    Err(CallError::invalid(&edge.name, message))
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
        (Cardinality::OptionalOne, false, None) => Ok((Vec::new(), whole())),
        (Cardinality::One, false, None) => {
            Err(CallError::invalid(&edge.name, "the edge is set at creation, and stays"))
        }
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
    let (at, _) = place(transaction, edge, None, target)?;
    let key = key::edge(source, edge.tag, &at);
    if edge.cardinality == Cardinality::ManyUnique {
        if !transaction.contains(&key)? {
            return Ok(false);
        }
        transaction.delete(key)?;
    } else {
        if self::target(transaction, source, edge)? != Some(target) {
            return Ok(false);
        }
        match in_header(transaction, source, edge)? {
            Single::Nowhere => transaction.delete(key)?,
            // A header does not change, so that it no longer holds has to be said.
            Single::To(_) | Single::Malformed => transaction.put(key, Bytes::new())?,
        }
    }
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

/// Returns the slot and the target of an edge that stays, for the header of a new object, from the
/// bytes of a field of its creation's input; nothing for an edge that may change.
pub(crate) fn fixed(edge: &EdgeModel, bytes: &[u8]) -> Result<Option<(Tag, ObjectRef)>, CallError> {
    if edge.cardinality != Cardinality::One {
        return Ok(None);
    }
    let target = stored(bytes, || format!("the field for `{}`", edge.name))?;
    accepts(edge, target)?;
    Ok(Some((edge.tag, target)))
}

/// Fills the edge of a new object, whose header is there, from the bytes of a field of its
/// creation's input.
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
        (Cardinality::One, _) => {
            // The header has it, see `fixed`.
            let target = stored(bytes, field)?;
            return inverse::add(transaction, atom, source, edge, target, &[]);
        }
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
