//! What `verify` reports.
//!
//! Every stored byte that can be checked is: keys, values, references, both ends of every edge,
//! streams and their readers, the history's chain, and what each package promises beyond its
//! types. Nothing is changed, whatever is found.

mod kind;

use std::fmt;

use serde::Serialize;

pub use kind::VerifyKind;

/// What a check of a store found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Report {
    /// What is wrong, in the order of the store; of very many, the first.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub omitted: u64,
}

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// What sort of damage it is.
    pub kind: VerifyKind,
    /// Where, in words: an object and its slot, a commit.
    pub place: String,
    /// What is there, and what should be.
    pub message: String,
}

impl Finding {
    /// A breach of what a package promises. The name of the invariant is added by who asked.
    pub fn breach(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: VerifyKind::Invariant, place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.kind, self.place, self.message)
    }
}
