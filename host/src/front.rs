//! What the doors of existing front ends share (`agui.rs`, `ui_message.rs`).
//!
//! Such a front end names its threads and messages itself, and sends the whole conversation each
//! time. Here is how its thread becomes one of the host's (`chosen.rs`), which of what it sends is
//! news (`news.rs`), what answers in it are known by (`once.rs`), and how that becomes a turn
//! (`begin.rs`).

mod begin;
#[cfg(test)]
pub(crate) mod cases;
mod chosen;
mod news;
mod once;

use blake3::Hasher;
use quixos_protocol::agent::RequestError;
use quixos_protocol::parse;
use serde::de::DeserializeOwned;

pub(crate) use begin::{Ask, begin, running};
pub(crate) use news::Said;
pub(crate) use once::once;

use crate::agent::Problem;
use crate::error::ApiError;
use crate::routes::Body;
use crate::routes::agent::unread;
use crate::state::State;

/// Returns the hash of a list of texts, in hexadecimal digits.
fn hash<'p>(context: &str, parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hasher = Hasher::new_derive_key(context);
    for part in parts {
        // Each with its length, so that no two lists of parts are the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Reads what a front end posts.
///
/// # Errors
///
/// It is too large, or of another form; the message names the place.
pub(crate) fn read<T: DeserializeOwned>(
    state: &State,
    body: Result<Body, ApiError>,
) -> Result<T, Problem> {
    let Body(body) = body.map_err(|error| unread(&error))?;
    Ok(parse(&body, state.request_limits().body).map_err(RequestError::from)?)
}
