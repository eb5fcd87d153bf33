//! The other end of every edge, kept by the runtime and never by a handler.
//!
//! Each edge has one inverse entry at its target, whether the target declares an inverse or not;
//! so it is always known what leads to an object. Where the target's atom declares a keyed inverse
//! the entry lies under the key that is found in the source's state, and moves when that state
//! changes. Several sources may have one key.
//!
//! Invariant: there is an edge for every inverse entry, an entry for every edge, and the key of
//! the entry is the one in the source's state.

use std::ops::Bound;

use bytes::Bytes;

use crate::edge;
use crate::error::CallError;
use crate::key::{self, Key};
use crate::model::{AtomModel, EdgeModel, InverseModel, Model, StateModel};
use crate::object;
use crate::overlay::{Entry, Read};
use crate::reference::ObjectRef;
use crate::transaction::{Transaction, within};

/// Adds the entry of an edge.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    edge: &EdgeModel,
    target: ObjectRef,
    at: &[u8],
) -> Result<(), CallError> {
    let key = entry(transaction, atom, source, edge, target, at)?;
    transaction.put(key, Bytes::new())
}

/// Removes the entry of an edge.
pub(crate) fn remove(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    edge: &EdgeModel,
    target: ObjectRef,
    at: &[u8],
) -> Result<(), CallError> {
    let key = entry(transaction, atom, source, edge, target, at)?;
    transaction.delete(key)
}

/// Returns the key of the entry of an edge.
fn entry(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    edge: &EdgeModel,
    target: ObjectRef,
    at: &[u8],
) -> Result<Bytes, CallError> {
    let Some(path) = edge.inverse_keys.get(&target.atom) else {
        return Ok(key::inverse(target, source, edge.tag, &[], at));
    };
    let slot = &atom.states[path.state];
    let state = object::state(transaction, source, slot)?;
    let inverse_key = key_in(transaction, slot, &state, &path.fields)?;
    Ok(key::inverse(target, source, edge.tag, inverse_key.as_bytes(), at))
}

fn key_in<'b>(
    transaction: &Transaction<'_>,
    slot: &StateModel,
    state: &'b [u8],
    fields: &[usize],
) -> Result<&'b str, CallError> {
    let found = slot.layout.string_at(state, fields);
    let found = found.map_err(|error| error.corrupt(format_args!("state `{}`", slot.name)))?;
    within("bytes in an inverse key", transaction.circumstances().limits.key, found.len())?;
    Ok(found)
}

/// Moves the entries whose keys are in a state that changes.
pub(crate) fn moved(
    transaction: &Transaction<'_>,
    atom: &AtomModel,
    source: ObjectRef,
    slot: &StateModel,
    before: &[u8],
    after: &[u8],
) -> Result<(), CallError> {
    for of in &slot.keys {
        let old = key_in(transaction, slot, before, &of.fields)?;
        let new = key_in(transaction, slot, after, &of.fields)?;
        if old == new {
            continue;
        }
        let edge = &atom.edges[of.edge];
        for (at, target) in edge::targets(transaction, source, edge, usize::MAX)? {
            if target.atom == of.target {
                let entry = |key: &str| {
                    key::inverse(target, source, edge.tag, key.as_bytes(), at.as_bytes())
                };
                transaction.delete(entry(old))?;
                transaction.put(entry(new), Bytes::new())?;
            }
        }
    }
    Ok(())
}

/// Tells whether an edge leads here from a source.
pub(crate) fn contains(
    read: &impl Read,
    target: ObjectRef,
    inverse: &InverseModel,
    source_atom: &AtomModel,
    source: ObjectRef,
) -> Result<bool, CallError> {
    if source.atom != inverse.source_tag {
        return Ok(false);
    }
    let prefix = match &inverse.key {
        None => key::inverse(target, source, inverse.edge_tag, &[], &[]),
        Some(path) => {
            let slot = &source_atom.states[path.state];
            let Some(state) = read.get(&key::state(source, slot.tag))? else { return Ok(false) };
            let found = slot.layout.string_at(&state, &path.fields);
            let found =
                found.map_err(|error| error.corrupt(format_args!("state `{}`", slot.name)))?;
            key::inverse(target, source, inverse.edge_tag, found.as_bytes(), &[])
        }
    };
    Ok(!read.begin_with(&prefix, None, 1)?.is_empty())
}

/// Reads at most `limit` sources of an inverse without keys, behind `after`, in the order of their
/// ids.
pub(crate) fn page(
    read: &impl Read,
    target: ObjectRef,
    inverse: &InverseModel,
    after: Option<ObjectRef>,
    limit: usize,
) -> Result<Vec<ObjectRef>, CallError> {
    let prefix = key::inverses(target, inverse.source_tag, inverse.edge_tag);
    let after = after.map(|source| key::inverse(target, source, inverse.edge_tag, &[], &[]));
    let mut sources = Vec::new();
    scan(read, &prefix, after.as_deref(), |_, source| {
        if sources.last() != Some(&source) {
            if sources.len() == limit {
                return false;
            }
            sources.push(source);
        }
        true
    })?;
    Ok(sources)
}

/// Reads the sources that have a key, in the order of their ids.
pub(crate) fn at(
    read: &impl Read,
    target: ObjectRef,
    inverse: &InverseModel,
    at: &str,
) -> Result<Vec<ObjectRef>, CallError> {
    let prefix = key::inverses_at(target, inverse.source_tag, inverse.edge_tag, at.as_bytes());
    let mut sources = Vec::new();
    scan(read, &prefix, None, |_, source| {
        if sources.last() != Some(&source) {
            sources.push(source);
        }
        true
    })?;
    Ok(sources)
}

/// Reads keys and sources behind the key `after`, in the order of the keys, then of the sources'
/// ids. At most `limit`, but all that share the last key are there.
pub(crate) fn entries(
    read: &impl Read,
    target: ObjectRef,
    inverse: &InverseModel,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<(String, ObjectRef)>, CallError> {
    let prefix = key::inverses(target, inverse.source_tag, inverse.edge_tag);
    let after = after
        .map(|at| key::inverses_at(target, inverse.source_tag, inverse.edge_tag, at.as_bytes()));
    let mut entries: Vec<(String, ObjectRef)> = Vec::new();
    if limit == 0 {
        return Ok(entries);
    }
    let mut malformed = false;
    scan(read, &prefix, after.as_deref(), |key, source| {
        let Ok(key) = std::str::from_utf8(key) else {
            malformed = true;
            return false;
        };
        if let Some((last, same)) = entries.last() {
            if last == key && *same == source {
                return true;
            }
            if entries.len() >= limit && last != key {
                return false;
            }
        }
        entries.push((key.to_owned(), source));
        true
    })?;
    if malformed {
        let message = format!("an inverse key of `{}` of {target:?} is not UTF-8", inverse.name);
        return Err(CallError::Corrupt { message });
    }
    Ok(entries)
}

/// How many entries are read at once.
const PAGE: usize = 256;

/// Hands out the keys and sources of the entries that begin so, behind all that begin with
/// `after`, until told to stop.
fn scan(
    read: &impl Read,
    prefix: &[u8],
    after: Option<&[u8]>,
    mut visit: impl FnMut(&[u8], ObjectRef) -> bool,
) -> Result<(), CallError> {
    let mut start = match after.map(key::end_of) {
        Some(Bound::Excluded(first)) => Bound::Included(first),
        Some(Bound::Included(_) | Bound::Unbounded) | None => {
            Bound::Included(Bytes::copy_from_slice(prefix))
        }
    };
    loop {
        let from = start.as_ref().map(Bytes::as_ref);
        let page = read.begin_with(prefix, Some(from), PAGE)?;
        for (key, _) in &page {
            let Ok(Key::Inverse { source, key, .. }) = Key::decode(key) else {
                return Err(malformed(key));
            };
            if !visit(&key, source) {
                return Ok(());
            }
        }
        match page.last() {
            Some((last, _)) if page.len() == PAGE => start = Bound::Excluded(last.clone()),
            Some(_) | None => return Ok(()),
        }
    }
}

/// An edge that leads to an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// Where it begins.
    pub source: ObjectRef,
    /// The edge slot's name.
    pub edge: String,
    /// Its key, where it is keyed.
    pub key: Option<String>,
    entry: Bytes,
}

impl Holder {
    /// Reads a holder from the key of an inverse entry.
    pub(crate) fn read(model: &Model, entry: &Bytes) -> Result<Self, CallError> {
        let Ok(Key::Inverse { source, slot, at, .. }) = Key::decode(entry) else {
            return Err(malformed(entry));
        };
        let atom = model.atom_of(source.atom);
        let edge = atom.and_then(|atom| atom.edges.iter().find(|edge| edge.tag == slot));
        let edge = edge.ok_or_else(|| malformed(entry))?;
        let at = std::str::from_utf8(&at).map_err(|_| malformed(entry))?;
        let key = edge.keyed.then(|| at.to_owned());
        Ok(Self { source, edge: edge.name.clone(), key, entry: entry.clone() })
    }

    /// Returns the key of its inverse entry.
    pub(crate) fn entry(&self) -> &[u8] {
        &self.entry
    }
}

/// Reads at most `limit` entries of all that leads to an object, behind the key `after`.
pub(crate) fn holders(
    read: &impl Read,
    target: ObjectRef,
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<Entry>, CallError> {
    read.begin_with(&key::holders(target), after.map(Bound::Excluded), limit)
}

pub(crate) fn malformed(key: &[u8]) -> CallError {
    CallError::Corrupt { message: format!("the key {key:02x?} is malformed") }
}
