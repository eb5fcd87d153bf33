//! All that a store holds, as anybody left it.
//!
//! An input is a list of edits to the small world, so that it reaches deep whatever the layout of
//! keys and values is.

use bytes::Bytes;

use crate::sound::whatever_is_in;
use crate::world::{Entries, Start, filled};

/// Opens the small world after some edits. What must hold: `whatever_is_in`.
pub fn images(bytes: &[u8]) {
    let mut edits = Edits(bytes);
    let mut entries = Start::get().entries.clone();
    while let Some(edit) = edits.next() {
        edit.apply(&mut entries);
    }
    entries.sort();
    entries.dedup_by(|later, earlier| later.0 == earlier.0);
    whatever_is_in(filled(entries));
}

/// A change to one entry, or to all.
struct Edit<'a> {
    what: u8,
    /// Which entry, counted in a circle.
    entry: usize,
    /// Where in its value or key, counted in a circle.
    at: usize,
    bytes: &'a [u8],
}

/// What is left of an input.
struct Edits<'a>(&'a [u8]);

impl<'a> Edits<'a> {
    /// Reads an edit: what (1), entry (2), where (1), how many bytes (1), the bytes.
    fn next(&mut self) -> Option<Edit<'a>> {
        let ([what, high, low, at, length], rest) = self.0.split_first_chunk::<5>()?;
        let (bytes, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        self.0 = rest;
        let entry = usize::from(u16::from_be_bytes([*high, *low]));
        Some(Edit { what: *what, entry, at: usize::from(*at), bytes })
    }
}

impl Edit<'_> {
    fn apply(&self, entries: &mut Entries) {
        if self.what % 8 == 7 {
            return entries.clear();
        }
        if entries.is_empty() {
            return self.insert(entries);
        }
        let entry = self.entry % entries.len();
        let (key, value) = &entries[entry];
        let changed = match self.what % 8 {
            0 => {
                entries.remove(entry);
                return;
            }
            1 => (key.clone(), overwritten(value, self.at, self.bytes)),
            2 => (key.clone(), value.slice(..self.at % (value.len() + 1))),
            3 => (key.clone(), inserted(value, self.at, self.bytes)),
            4 => (overwritten(key, self.at, self.bytes), value.clone()),
            5 => (key.clone(), entries[(entry + self.at + 1) % entries.len()].1.clone()),
            _ => return self.insert(entries),
        };
        entries[entry] = changed;
    }

    /// Puts in an entry whose key begins as that of another does, and whose value is what is left.
    fn insert(&self, entries: &mut Entries) {
        let like = entries.get(self.entry % entries.len().max(1)).map(|(key, _)| key.clone());
        let like = like.unwrap_or_default();
        let (key, value) = self.bytes.split_at(self.bytes.len().min(8));
        let key = [&like[..self.at % (like.len() + 1)], key].concat();
        if !key.is_empty() {
            entries.push((key.into(), Bytes::copy_from_slice(value)));
        }
    }
}

fn overwritten(bytes: &Bytes, at: usize, with: &[u8]) -> Bytes {
    let mut changed = bytes.to_vec();
    let at = at % (changed.len() + 1);
    for (byte, with) in changed[at..].iter_mut().zip(with) {
        *byte = *with;
    }
    changed.into()
}

fn inserted(bytes: &Bytes, at: usize, more: &[u8]) -> Bytes {
    let (before, behind) = bytes.split_at(at % (bytes.len() + 1));
    [before, more, behind].concat().into()
}
