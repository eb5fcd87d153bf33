//! From what was sent to what is appended.

use quixos_runtime::CallError;

use crate::form::Form;
use crate::json;
use crate::streams::{Chunk, Position};

/// Returns the chunk that a body makes behind a place; none if there is nothing in it.
pub(crate) fn chunk(
    form: Form,
    body: Vec<u8>,
    tail: &Position,
) -> Result<Option<Chunk>, CallError> {
    if body.is_empty() {
        return Ok(None);
    }
    let (data, messages) = match form {
        Form::Json => {
            let messages = json::messages(&body)?;
            if messages.is_empty() {
                return Ok(None);
            }
            (json::joined(&messages), messages.len())
        }
        Form::Text | Form::Binary => (body, 1),
    };
    let end = tail.bytes.saturating_add(data.len() as u64);
    Ok(Some(Chunk { data, messages: u32::try_from(messages).unwrap_or(u32::MAX), end }))
}

/// Returns the place behind a chunk that was appended at another.
pub(crate) fn behind(chunk: &Chunk, tail: &Position) -> Position {
    Position { events: tail.events.saturating_add(1), bytes: chunk.end }
}
