//! How many entries of each kind a store or an export has. An edge to one is no entry of its own:
//! it is counted with the object whose header has it, and with its inverse.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::key::Kind;

/// How many entries of each kind there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts([u64; Kind::ALL.len()]);

impl Counts {
    /// Returns how many entries of a kind there are.
    #[must_use]
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[position(kind)]
    }

    /// Returns how many entries there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns every kind with its count, in the order of the store.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, u64)> + '_ {
        Kind::ALL.into_iter().zip(self.0)
    }

    pub(crate) fn add(&mut self, kind: Kind) {
        self.0[position(kind)] += 1;
    }
}

fn position(kind: Kind) -> usize {
    Kind::ALL.iter().position(|it| *it == kind).unwrap_or_default()
}

/// Returns what entries of a kind are called.
#[must_use]
pub fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Meta => "meta",
        Kind::Transaction => "transactions",
        Kind::Object => "objects",
        Kind::State => "states",
        Kind::Edge => "edges",
        Kind::Inverse => "inverses",
        Kind::Stream => "streams",
        Kind::Event => "events",
        Kind::Cursor => "cursors",
        Kind::History => "history",
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (kind, count) in self.iter() {
            map.serialize_entry(kind_word(kind), &count)?;
        }
        map.end()
    }
}
