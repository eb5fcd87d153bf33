//! What a call would change, for whoever wants to see it first.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value as Json;

use crate::error::CallError;
use crate::header::{self, Header};
use crate::key::{self, Key};
use crate::model::{AtomModel, Model};
use crate::overlay::Read;
use crate::reference::ObjectRef;
use crate::stream;
use crate::trace::Step;
use crate::transaction::Transaction;
use crate::value::{Layout, Value};

/// What a call would come to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Preview {
    /// What it would answer.
    pub answer: Json,
    /// What it would change, in the order of the keys: objects, state, edges, streams.
    pub changes: Vec<Change>,
    /// What it did on the way.
    pub trace: Vec<Step>,
}

/// A change of an object. Objects are references as text.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// The object is new.
    Created {
        /// The object.
        object: String,
    },
    /// A state has another value.
    State {
        /// The object.
        object: String,
        /// The slot's name.
        slot: String,
        /// The value before; `null` if the object is new.
        before: Json,
        /// The value after.
        after: Json,
    },
    /// An edge has a target that it had not.
    Connected {
        /// The object.
        object: String,
        /// The slot's name.
        edge: String,
        /// The key, if the edge is keyed.
        key: Option<String>,
        /// The target.
        target: String,
    },
    /// An edge no longer has a target.
    Disconnected {
        /// The object.
        object: String,
        /// The slot's name.
        edge: String,
        /// The key, if the edge is keyed.
        key: Option<String>,
        /// The target.
        target: String,
    },
    /// A stream has another event.
    Appended {
        /// The object.
        object: String,
        /// The slot's name.
        stream: String,
        /// The event's place.
        offset: u64,
        /// The event.
        event: Json,
    },
}

/// Returns what a transaction has changed so far.
pub(crate) fn changes(
    transaction: &Transaction<'_>,
    model: &Model,
) -> Result<Vec<Change>, CallError> {
    transaction.written(|writes| {
        let mut entries: BTreeMap<Bytes, _> = BTreeMap::new();
        for (key, after) in writes {
            let before = transaction.base().get(key)?;
            if before == *after {
                continue;
            }
            let mut entry = (before, after.clone());
            match (Key::decode(key), after) {
                (Ok(Key::Object(object)), Some(header)) => entries.extend(set_by(object, header)),
                (Ok(Key::Edge { source, slot, at }), Some(nothing))
                    if at.is_empty() && nothing.is_empty() =>
                {
                    // What the header says no longer holds.
                    let header = header::read(transaction.base(), source)?;
                    let said = header.and_then(|header| header.target(slot)).map(reference);
                    entry = (entry.0.filter(|before| !before.is_empty()).or(said), None);
                }
                _ => {}
            }
            entries.insert(key.clone(), entry);
        }
        let mut changes = Vec::new();
        for (key, (before, after)) in entries {
            changes.extend(change(model, &key, before.as_ref(), after.as_ref())?);
        }
        Ok(changes)
    })
}

/// An entry before and after.
type Entry = (Bytes, (Option<Bytes>, Option<Bytes>));

/// Returns the edges that the header of a new object sets, as entries like those of other edges.
fn set_by(object: ObjectRef, header: &Bytes) -> impl Iterator<Item = Entry> {
    let targets = Header::decode(header).into_iter().flat_map(|header| header.targets);
    targets
        .map(move |(slot, target)| (key::edge(object, slot, &[]), (None, Some(reference(target)))))
}

fn reference(target: ObjectRef) -> Bytes {
    Bytes::copy_from_slice(&target.to_bytes())
}

/// Returns what a write means; nothing for what follows from others.
fn change(
    model: &Model,
    key: &Bytes,
    before: Option<&Bytes>,
    after: Option<&Bytes>,
) -> Result<Option<Change>, CallError> {
    let Ok(key) = Key::decode(key) else { return Ok(None) };
    let change = match key {
        Key::Object(object) => Some(Change::Created { object: model.text(object) }),
        Key::State { object, slot } => {
            let found = atom(model, object).and_then(|it| it.states.iter().find(|s| s.tag == slot));
            let Some(slot) = found else { return Ok(None) };
            Some(Change::State {
                object: model.text(object),
                slot: slot.name.clone(),
                before: json(model, &slot.layout, before)?,
                after: json(model, &slot.layout, after)?,
            })
        }
        Key::Edge { source, slot, at } => {
            let found = atom(model, source).and_then(|it| it.edges.iter().find(|e| e.tag == slot));
            let Some(edge) = found else { return Ok(None) };
            let target = match after.or(before).filter(|stored| !stored.is_empty()) {
                Some(stored) => stored.as_ref().try_into().ok().map(ObjectRef::from_bytes),
                None => key::target_at(&at),
            };
            let object = model.text(source);
            let key = edge.keyed.then(|| String::from_utf8_lossy(&at).into_owned());
            let target = target.map(|target| model.text(target)).unwrap_or_default();
            let edge = edge.name.clone();
            Some(match after {
                Some(_) => Change::Connected { object, edge, key, target },
                None => Change::Disconnected { object, edge, key, target },
            })
        }
        Key::Event { object, slot, offset } => {
            let found =
                atom(model, object).and_then(|it| it.streams.iter().find(|s| s.tag == slot));
            let (Some(slot), Some(after)) = (found, after) else { return Ok(None) };
            let event = stream::event_bytes(after, slot)?;
            Some(Change::Appended {
                object: model.text(object),
                stream: slot.name.clone(),
                offset,
                event: json(model, &slot.layout, Some(&event))?,
            })
        }
        Key::Inverse { .. }
        | Key::Stream { .. }
        | Key::Cursor { .. }
        | Key::Meta(_)
        | Key::Transaction(_)
        | Key::History(_) => None,
    };
    Ok(change)
}

fn atom(model: &Model, object: ObjectRef) -> Option<&AtomModel> {
    model.atom_of(object.atom)
}

fn json(model: &Model, layout: &Layout, bytes: Option<&Bytes>) -> Result<Json, CallError> {
    let Some(bytes) = bytes else { return Ok(Json::Null) };
    let value = Value::decode(bytes, layout).map_err(|error| error.corrupt("a value"))?;
    Ok(value.to_json(layout, &model.definitions))
}
