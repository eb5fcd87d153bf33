//! Offsets: how places in a stream are written, so that they sort as the places do.

use quixos_runtime::CallError;

use crate::streams::Position;

/// A place that somebody named.
#[derive(Debug, PartialEq)]
pub(crate) enum Place {
    /// The beginning.
    Start,
    /// The end, wherever that is.
    End,
    /// Behind so much.
    At(Position),
}

/// How many digits each of the two numbers has.
const DIGITS: usize = 16;

/// The beginning of a stream.
pub(crate) const START: Position = Position { events: 0, bytes: 0 };

/// Writes a place.
pub(crate) fn text(position: &Position) -> String {
    format!("{:0DIGITS$}_{:0DIGITS$}", position.events, position.bytes)
}

/// Reads a place that somebody named.
pub(crate) fn parse(path: &str, text: &str) -> Result<Place, CallError> {
    match text {
        "-1" => Ok(Place::Start),
        "now" => Ok(Place::End),
        _ => {
            let found = text.split_once('_').and_then(|(events, bytes)| {
                Some(Place::At(Position { events: number(events)?, bytes: number(bytes)? }))
            });
            found.ok_or_else(|| CallError::invalid(path, "not an offset that was answered"))
        }
    }
}

fn number(text: &str) -> Option<u64> {
    let is_ours = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_here_is_read() {
        let position = Position { events: 12, bytes: 345 };
        assert_eq!(text(&position), "0000000000000012_0000000000000345");
        assert_eq!(parse("offset", &text(&position)).unwrap(), Place::At(position));
        for wrong in ["", "0", "0,1", "12_345", "-1 ", "+000000000000012_0000000000000345"] {
            assert!(parse("offset", wrong).is_err(), "{wrong}");
        }
    }
}
