//! The sorts of damage that a check can find, each with a stable word.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// A sort of damage. Its word is stable: programs match on it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum VerifyKind { $($(#[$doc])* $name,)* }

        impl VerifyKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the word.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    /// Something cannot be read, since the store below finds it damaged.
    Unreadable = "unreadable",
    /// Bytes that are no key.
    Key = "key",
    /// What the store says about itself is not as it should be.
    Meta = "meta",
    /// The record of a named transaction is not as it should be.
    Transaction = "transaction",
    /// No atom of the loaded definitions has this tag.
    UnknownAtom = "unknown-atom",
    /// The atom has no such slot.
    UnknownSlot = "unknown-slot",
    /// A slot's contents belong to an object that is not there.
    Orphan = "orphan",
    /// A value is not of its type, or not in the one form that it has.
    Value = "value",
    /// A state slot of an object holds nothing.
    MissingState = "missing-state",
    /// An edge has fewer targets than it must have.
    Cardinality = "cardinality",
    /// A reference leads to an object that is not there.
    Dangling = "dangling",
    /// A reference leads to an object of a type that it may not lead to.
    WrongType = "wrong-type",
    /// An edge has no entry at its target.
    MissingInverse = "missing-inverse",
    /// An entry at a target belongs to no edge.
    StrayInverse = "stray-inverse",
    /// An entry at a target has another key than the source's state says.
    InverseKey = "inverse-key",
    /// An event of a stream is missing.
    StreamGap = "stream-gap",
    /// A stream's length is not that of its events.
    StreamLength = "stream-length",
    /// A reader stands behind the end of its stream.
    Cursor = "cursor",
    /// A commit, an instant or an id does not agree with the history.
    Commit = "commit",
    /// A commit is missing from the history.
    HistoryGap = "history-gap",
    /// An entry of the history is not the one that was written.
    HistoryChain = "history-chain",
    /// A package's own invariant does not hold.
    Invariant = "invariant",
}

impl fmt::Display for VerifyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for VerifyKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}
