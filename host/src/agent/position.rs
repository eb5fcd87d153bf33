//! Places in a stream, as the ids of its events.
//!
//! An event that is recorded comes from an entry of the session's log, and is one of those that the
//! entry is told as. To a client an id is opaque.

use std::fmt;
use std::str::FromStr;

/// The place of an event in the stream of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The entry of the log: 1, 2, 3 …
    seq: u64,
    /// Which of the events that the entry is told as.
    part: u32,
}

/// What is no place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an event of this stream")]
pub(crate) struct NoPosition;

impl Position {
    /// Returns the place of an event of the log's entry at an offset.
    pub(crate) fn new(offset: u64, part: u32) -> Self {
        Self { seq: offset.saturating_add(1), part }
    }

    /// Returns the place behind all that comes from entries before an offset.
    pub(crate) fn before(offset: u64) -> Self {
        Self { seq: offset, part: u32::MAX }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.part)
    }
}

impl FromStr for Position {
    type Err = NoPosition;

    fn from_str(text: &str) -> Result<Self, NoPosition> {
        let (seq, part) = text.split_once('.').ok_or(NoPosition)?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if !digits(seq) || !digits(part) {
            return Err(NoPosition);
        }
        let number = |_| NoPosition;
        Ok(Self { seq: seq.parse().map_err(number)?, part: part.parse().map_err(number)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let position = Position::new(11, 3);
        assert_eq!(position.to_string(), "12.3");
        assert_eq!("12.3".parse(), Ok(position));
        assert!(Position::before(12) > position && Position::before(12) < Position::new(12, 0));
        for text in
            ["", ".", "1", "1.", ".1", "-1.0", "+1.0", "1.0.0", "1.x", "9".repeat(30).as_str()]
        {
            assert_eq!(text.parse::<Position>(), Err(NoPosition), "{text}");
        }
    }
}
