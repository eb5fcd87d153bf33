//! Where in a value something is: `submission.contexts[2]`, or `$` for the whole.
//!
//! A path is a chain of borrowed steps on the stack, so that walking costs nothing; it becomes
//! text when somebody asks.

use std::fmt;

/// The way from the whole value to a part of it.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    /// The whole.
    Whole,
    /// A field of a record.
    Field {
        /// The way to the record.
        parent: &'a Path<'a>,
        /// The field's name.
        name: &'a str,
    },
    /// An item of a list.
    Item {
        /// The way to the list.
        parent: &'a Path<'a>,
        /// The item's position.
        at: usize,
    },
}

impl<'a> Path<'a> {
    /// Returns the way to a field of the record that is here.
    #[must_use]
    pub fn field(&'a self, name: &'a str) -> Self {
        Self::Field { parent: self, name }
    }

    /// Returns the way to an item of the list that is here.
    #[must_use]
    pub fn item(&'a self, at: usize) -> Self {
        Self::Item { parent: self, at }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("$"),
            Self::Field { parent: Self::Whole, name } => f.write_str(name),
            Self::Field { parent, name } => write!(f, "{parent}.{name}"),
            Self::Item { parent, at } => write!(f, "{parent}[{at}]"),
        }
    }
}
