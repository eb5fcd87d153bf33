//! Streams as they are stored: append-only, offsets 0, 1, 2 … without gaps.
//!
//! An event is appended in the transaction of the call that tells of it, so that it is there
//! exactly when what it tells of is. Following one live: `follow.rs`.

use std::ops::Bound;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::clock::from_millis;
use crate::error::CallError;
use crate::key::{self, Key};
use crate::model::StreamModel;
use crate::object::{encoded, stored};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::transaction::{Transaction, within};

/// How many events are read first, when nobody knows how long they are.
const FIRST: usize = 4;
/// How many events are read at once, at most. One may have megabytes.
const AT_ONCE: usize = 16;

/// An event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its place: 0, 1, 2 …
    pub offset: u64,
    /// The commit that appended it.
    pub commit: u64,
    /// The instant of that commit.
    pub instant: DateTime<Utc>,
    /// The event's bytes, of the stream's type.
    pub bytes: Bytes,
}

/// What is stored before the event's bytes.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) commit: u64,
    pub(crate) millis: i64,
}

/// Returns how many events a stream has, which is the offset of the next.
pub(crate) fn length(
    read: &impl Read,
    object: ObjectRef,
    slot: &StreamModel,
) -> Result<u64, CallError> {
    match read.get(&key::stream(object, slot.tag))? {
        Some(bytes) => stored(&bytes, || format!("the length of `{}` of {object:?}", slot.name)),
        None => Ok(0),
    }
}

/// Appends an event, whose bytes are of the stream's type, and returns its offset.
pub(crate) fn append(
    transaction: &Transaction<'_>,
    object: ObjectRef,
    slot: &StreamModel,
    event: &[u8],
) -> Result<u64, CallError> {
    let circumstances = transaction.circumstances();
    within("bytes in a value", circumstances.limits.value, event.len())?;
    let offset = length(transaction, object, slot)?;
    let next = offset
        .checked_add(1)
        .ok_or_else(|| CallError::Limit { message: format!("`{}` is full", slot.name) })?;
    let head =
        Head { commit: circumstances.commit, millis: circumstances.instant.timestamp_millis() };
    let mut bytes = encoded(&head)?;
    bytes.extend_from_slice(event);
    transaction.put(key::event(object, slot.tag, offset), bytes.into())?;
    transaction.put(key::stream(object, slot.tag), encoded(&next)?.into())?;
    transaction.watch(&slot.watch, event);
    Ok(offset)
}

/// Reads at most `limit` events from an offset on.
pub(crate) fn events(
    read: &impl Read,
    object: ObjectRef,
    slot: &StreamModel,
    from: u64,
    limit: usize,
) -> Result<Vec<Event>, CallError> {
    let mut prefix = key::event(object, slot.tag, 0).to_vec();
    prefix.truncate(prefix.len() - 8);
    let start = key::event(object, slot.tag, from);
    let entries = read.begin_with(&prefix, Some(Bound::Included(&start)), limit)?;
    entries.iter().map(|(key, value)| event(key, value, slot)).collect()
}

/// Reads a page of events from an offset on: at most `limit`, and none behind the first with which
/// they have so many bytes. One at least, if there is one.
///
/// The store counts entries and not their bytes, so it is asked for few at a time; for a moment
/// there are as many as that, however long.
pub(crate) fn page(
    read: &impl Read,
    object: ObjectRef,
    slot: &StreamModel,
    from: u64,
    limit: usize,
    bytes: usize,
) -> Result<Vec<Event>, CallError> {
    let mut page: Vec<Event> = Vec::new();
    let (mut left, mut longest) = (bytes, 0);
    while page.len() < limit && (left > 0 || page.is_empty()) {
        // As many as fit, if none is longer than those before.
        let fit = left.checked_div(longest).map_or(FIRST, |fit| fit.clamp(1, AT_ONCE));
        let count = fit.min(limit - page.len());
        let from = page.last().map_or(from, |last| last.offset + 1);
        let found = events(read, object, slot, from, count)?;
        let is_end = found.len() < count;
        for event in found {
            if left == 0 && !page.is_empty() {
                return Ok(page);
            }
            left = left.saturating_sub(event.bytes.len());
            longest = longest.max(event.bytes.len());
            page.push(event);
        }
        if is_end {
            break;
        }
    }
    Ok(page)
}

fn event(key: &[u8], value: &Bytes, slot: &StreamModel) -> Result<Event, CallError> {
    let Ok(Key::Event { offset, .. }) = Key::decode(key) else { return Err(malformed(slot)) };
    let (head, bytes) = parts(value, slot)?;
    Ok(Event { offset, commit: head.commit, instant: from_millis(head.millis), bytes })
}

/// Returns the bytes of an event, of the stream's type, from what is stored.
pub(crate) fn event_bytes(value: &Bytes, slot: &StreamModel) -> Result<Bytes, CallError> {
    Ok(parts(value, slot)?.1)
}

fn parts(value: &Bytes, slot: &StreamModel) -> Result<(Head, Bytes), CallError> {
    let (head, rest) = postcard::take_from_bytes::<Head>(value).map_err(|_| malformed(slot))?;
    Ok((head, value.slice(value.len() - rest.len()..)))
}

fn malformed(slot: &StreamModel) -> CallError {
    CallError::Corrupt { message: format!("an event of `{}` is malformed", slot.name) }
}

/// Returns where a named reader of a stream stands: the offset that it reads next.
pub(crate) fn cursor(
    read: &impl Read,
    object: ObjectRef,
    slot: &StreamModel,
    name: &str,
) -> Result<Option<u64>, CallError> {
    let found = read.get(&key::cursor(object, slot.tag, name))?;
    let place = || format!("the cursor `{name}` of `{}` of {object:?}", slot.name);
    found.map(|bytes| stored(&bytes, place)).transpose()
}

/// Moves a named reader of a stream forward. Where it stands already, or farther on, nothing
/// changes: a reader that repeats itself after a crash takes nothing back.
pub(crate) fn advance(
    transaction: &Transaction<'_>,
    object: ObjectRef,
    slot: &StreamModel,
    name: &str,
    offset: u64,
) -> Result<u64, CallError> {
    if name.is_empty() {
        return Err(CallError::invalid("name", "the name of a cursor must not be empty"));
    }
    within("bytes in a cursor's name", transaction.circumstances().limits.key, name.len())?;
    let length = length(transaction, object, slot)?;
    if offset > length {
        let message = format!("`{}` has {length} events, {offset} is behind its end", slot.name);
        return Err(CallError::invalid("offset", message));
    }
    match cursor(transaction, object, slot, name)? {
        Some(stands) if stands >= offset => Ok(stands),
        Some(_) | None => {
            let key = key::cursor(object, slot.tag, name);
            transaction.put(key, encoded(&offset)?.into())?;
            Ok(offset)
        }
    }
}
