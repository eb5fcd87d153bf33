//! Why bytes are not a value of a type.

use crate::error::CallError;
use crate::value::Path;

/// Bytes, or a [`Value`](crate::value::Value), that are not of the type they should be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at `{path}`{}: {fault}", offset.map(|at| format!(" (byte {at})")).unwrap_or_default())]
pub struct ValueError {
    /// The way to the part that does not fit; `$` is the whole.
    pub path: String,
    /// The position in the bytes, where there are bytes.
    pub offset: Option<usize>,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with the bytes of a value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// They end inside the value.
    #[error("the bytes end inside {noun}")]
    Truncated {
        /// What was being read.
        noun: &'static str,
    },
    /// They go on behind the value.
    #[error("{count} bytes follow the value")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// A number takes more bytes than it needs.
    #[error("a number takes more bytes than it needs")]
    Overlong,
    /// A number does not fit its type.
    #[error("the number does not fit {noun}")]
    OutOfRange {
        /// The type.
        noun: &'static str,
    },
    /// The byte of a bool or of an optional's tag is neither 0 nor 1.
    #[error("{byte:#04x} is no {what}")]
    BadTag {
        /// What it should be.
        what: &'static str,
        /// What it is.
        byte: u8,
    },
    /// A string is not UTF-8.
    #[error("the string is not UTF-8")]
    BadUtf8,
    /// A float is infinite or not a number.
    #[error("a float64 must be finite")]
    NotFinite,
    /// A list of items that take no bytes has too many of them.
    #[error("{length} items that hold nothing, at most {limit} may be")]
    TooMany {
        /// How many.
        length: u64,
        /// How many may be.
        limit: u64,
    },
    /// The type itself is beyond what values can be had of.
    #[error("no value can be had of the type: it is nested too deeply or has too many parts")]
    Unusable,
    /// The value is of another type.
    #[error("must be {expected}, is {found}")]
    Mismatch {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The codec refused what the checks let pass.
    #[error("{0}")]
    Codec(postcard::Error),
}

impl ValueError {
    pub(crate) fn new(path: &Path<'_>, offset: Option<usize>, fault: Fault) -> Self {
        Self { path: path.to_string(), offset, fault }
    }

    /// Returns the error of a call whose input this is.
    #[must_use]
    pub fn invalid(self) -> CallError {
        CallError::Invalid { path: self.path, message: self.fault.to_string() }
    }

    /// Returns the error of a store in which this was found, at a place named for people.
    #[must_use]
    pub fn corrupt(self, place: impl std::fmt::Display) -> CallError {
        CallError::Corrupt { message: format!("{place}: {self}") }
    }
}
