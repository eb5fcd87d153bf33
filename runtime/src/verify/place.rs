//! Where something is, in words.

use std::fmt::Write as _;

use quixos_schema::Tag;

use crate::key::{Key, target_at};
use crate::model::{AtomModel, Model};

/// Returns what a key is of, in words.
pub(super) fn of(model: &Model, key: &Key<'_>) -> String {
    let atom = |tag| model.atom_of(tag);
    match key {
        Key::Meta(name) => format!("meta `{}`", name.escape_debug()),
        Key::Transaction(id) => format!("transaction {id}"),
        Key::Object(object) => model.text(*object),
        Key::State { object, slot } => {
            let name = slot_name(atom(object.atom), *slot);
            format!("{} state `{name}`", model.text(*object))
        }
        Key::Edge { source, slot, at } => {
            let name = slot_name(atom(source.atom), *slot);
            let edge = format!("{} edge `{name}`", model.text(*source));
            match target_at(at) {
                _ if at.is_empty() => edge,
                Some(target) if model.atom_of(target.atom).is_some() => {
                    format!("{edge} to {}", model.text(target))
                }
                Some(_) | None => format!("{edge} at `{}`", at.escape_ascii()),
            }
        }
        Key::Inverse { target, source, slot, key, at } => {
            let name = slot_name(atom(source.atom), *slot);
            let (to, from) = (model.text(*target), model.text(*source));
            let mut place = format!("{to} inverse of `{name}` of {from}");
            for (noun, bytes) in [("key", key), ("at", at)] {
                if !bytes.is_empty() {
                    // Writing to a string does not fail.
                    let _ = write!(place, " {noun} `{}`", String::from_utf8_lossy(bytes));
                }
            }
            place
        }
        Key::Stream { object, slot } => {
            format!("{} stream `{}`", model.text(*object), slot_name(atom(object.atom), *slot))
        }
        Key::Event { object, slot, offset } => {
            let name = slot_name(atom(object.atom), *slot);
            format!("{} stream `{name}` offset {offset}", model.text(*object))
        }
        Key::Cursor { object, slot, name } => {
            let stream = slot_name(atom(object.atom), *slot);
            let object = model.text(*object);
            format!("{object} stream `{stream}` cursor `{}`", name.escape_debug())
        }
        Key::History(commit) => format!("commit {commit}"),
    }
}

/// Returns how bytes that are no key are shown.
pub(super) fn bytes(key: &[u8]) -> String {
    let shown: Vec<_> = key.iter().take(64).map(|byte| format!("{byte:02x}")).collect();
    let more = if key.len() > shown.len() { "…" } else { "" };
    format!("key {}{more}", shown.concat())
}

fn slot_name(atom: Option<&AtomModel>, slot: Tag) -> String {
    let name = atom.and_then(|atom| {
        let states = atom.states.iter().map(|it| (it.tag, &it.name));
        let edges = atom.edges.iter().map(|it| (it.tag, &it.name));
        let streams = atom.streams.iter().map(|it| (it.tag, &it.name));
        states.chain(edges).chain(streams).find(|(tag, _)| *tag == slot)
    });
    match name {
        Some((_, name)) => name.clone(),
        None => format!("?{}", bytes(&slot.0).trim_start_matches("key ")),
    }
}
