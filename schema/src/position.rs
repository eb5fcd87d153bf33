//! Byte offsets to lines and columns, both from 1, as people and editors count them.

/// A line and a column, from 1. Columns count characters, not bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Where the lines of a text begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// The first byte of each line; at least one, and in order.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let behind_ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(behind_ends).collect() }
    }

    /// Returns the position of an offset, which must be within the text.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let before = &self.text[self.starts[line - 1]..offset];
        Position { line, column: before.chars().count() + 1 }
    }

    /// Returns the line that an offset stands in, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Returns the bytes of some lines, from 1, both included, with their line ends.
    pub(crate) fn bytes(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        self.starts[first - 1]..self.starts.get(last).copied().unwrap_or(self.text.len())
    }
}
