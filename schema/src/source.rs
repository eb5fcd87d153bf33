//! Source texts and places in them.
//!
//! A [`Sources`] holds every file of a run; a [`Place`] is a byte range in one of them. Nothing
//! here reads a file system: names and texts come in as arguments.

use std::ops::Range;

/// One file of a run, by its position in [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(pub u32);

/// A byte range in one source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl Place {
    /// Returns the range as `usize`, for slicing the text.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the part of this place that ends where another one does.
    pub(crate) fn up_to(self, other: Self) -> Self {
        Self { end: other.end, ..self }
    }

    /// Returns the smallest place that covers both. Both must be of the same source.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A named text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// What diagnostics call it, usually a path.
    pub name: String,
    /// The text, byte for byte.
    pub text: String,
}

/// Every text of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// Returns an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = SourceId(u32::try_from(self.files.len()).expect("fewer than 2^32 files"));
        self.files.push(Source { name: name.into(), text: text.into() });
        id
    }

    /// Returns a source.
    #[must_use]
    pub fn get(&self, id: SourceId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// Returns every source with its id, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        (0u32..).map(SourceId).zip(&self.files)
    }

    /// Returns the text at a place.
    #[must_use]
    pub fn text_at(&self, place: Place) -> &str {
        &self.get(place.source).text[place.range()]
    }
}
