//! The one door: bytes in, a wire type or a located error out.
//!
//! Three errors, because a caller answers them differently: too many bytes, bytes that are not
//! JSON, and JSON of a shape that is not asked for. Nesting is bounded by serde_json. Of a field
//! that is written twice, the last counts. A list is no object (`strict.rs`).

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::strict::Strict;

/// Why bytes are not the wire type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There are more bytes than the caller takes; they were not looked at.
    #[error("{size} bytes, where at most {limit} are taken")]
    TooLarge {
        /// How many there are.
        size: usize,
        /// How many would have been taken.
        limit: usize,
    },
    /// The bytes are not JSON, or nested too deeply.
    #[error("not JSON: {message}")]
    Malformed {
        /// What the JSON parser says, with line and column.
        message: String,
    },
    /// JSON, but not of the shape that was asked for.
    #[error("{}{message}", if .path.is_empty() { String::new() } else { format!("`{path}`: ") })]
    Shape {
        /// Where, as a JSON pointer; empty for the whole. A missing field is missed at its object.
        path: String,
        /// What is wrong there.
        message: String,
    },
}

/// Parses bytes of a wire type, if there are at most `limit` of them.
pub fn parse<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, ParseError> {
    if bytes.len() > limit {
        return Err(ParseError::TooLarge { size: bytes.len(), limit });
    }
    let value = serde_json::from_slice(bytes);
    parse_value(value.map_err(|error| ParseError::Malformed { message: error.to_string() })?)
}

/// Reads a wire type from JSON that is parsed already.
pub fn parse_value<T: DeserializeOwned>(value: Value) -> Result<T, ParseError> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let (path, message) = located(&error);
        ParseError::Shape { path, message }
    })
}

/// Returns where a fault is, as a JSON pointer, and what it is.
///
/// The message of a fault within a choice begins with a pointer of its own (see `tagged.rs`), which
/// goes on where the outer one ends. The names of fields have no colon, serde's messages begin
/// with a letter.
pub(crate) fn located(error: &serde_path_to_error::Error<serde_json::Error>) -> (String, String) {
    let outer = pointer(error.path());
    let message = error.inner().to_string();
    match message.split_once(": ") {
        Some((inner, message)) if inner.starts_with('/') => (outer + inner, message.to_owned()),
        Some(_) | None => (outer, message),
    }
}

fn pointer(path: &Path) -> String {
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                format!("/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Segment::Unknown => "/?".to_owned(),
        })
        .collect()
}
