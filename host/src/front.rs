//! What the doors of existing front ends share (`agui.rs`, `ui_message.rs`).
//!
//! Such a front end names its threads and messages itself, and sends the whole conversation each
//! time. Here is how its thread becomes one of the host's (`chosen.rs`), which of what it sends is
//! news (`news.rs`), and how that becomes a turn (`begin.rs`).

mod begin;
#[cfg(test)]
pub(crate) mod cases;
mod chosen;
mod news;

use quixos_protocol::agent::RequestError;
use quixos_protocol::parse;
use serde::de::DeserializeOwned;

pub(crate) use begin::{Ask, begin, running};
pub(crate) use news::Said;

use crate::agent::Problem;
use crate::error::ApiError;
use crate::routes::Body;
use crate::routes::agent::unread;
use crate::state::State;

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
