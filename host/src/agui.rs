//! AG-UI: turns as front ends that speak that protocol want them.
//!
//! Its client posts a run, with the whole conversation, and is told of it by a stream of events. In
//! reading order: `input.rs` (what is posted), `encode.rs` (what is told), `event.rs`.

mod encode;
mod event;
mod input;

use std::convert::Infallible;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::sse::{Event as Frame, Sse};
use axum::response::{IntoResponse as _, Response};
use axum_extra::extract::WithRejection;
use futures_util::{StreamExt as _, stream};
use quixos_protocol::agent::RequestError;

use self::encode::{Encoder, failed};
pub(crate) use self::event::Event;
pub(crate) use self::input::RunInput;
use crate::agent::{Problem, TurnStream, keep_alive, streamed};
use crate::credential::Client;
use crate::error::ApiError;
use crate::farewell::with_farewell;
use crate::front::{self, Ask, read};
use crate::routes::Body;
use crate::state::Shared;

/// Begins a run, or goes on with what waits for the client, and tells of it.
pub(crate) async fn run(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path(agent), _): WithRejection<Path<String>, Problem>,
    body: Result<Body, ApiError>,
) -> Result<Response, Problem> {
    let input: RunInput = read(&state, body)?;
    let conversation = input.conversation().map_err(RequestError::from)?;
    let ask = Ask {
        thread: input.thread_id.clone(),
        key: Some(input.run_id.clone()),
        once: input.once(),
        answers: input.answers(),
        client: input.client(),
        again: input.resume.is_empty() && input.ends_with_user(),
        conversation,
    };
    let encoder = Encoder::new(input.thread_id, input.run_id);
    match front::begin(&state.0, &bearer, &agent, ask).await {
        Ok(stream) => Ok(told(stream, encoder)),
        // What a run may not do is the run's failure. Who may not run anything has no run.
        Err(problem)
            if [StatusCode::BAD_REQUEST, StatusCode::CONFLICT].contains(&problem.status()) =>
        {
            let event = failed(problem.event());
            Ok(streamed(Sse::new(stream::iter([frame(&event)])).into_response()))
        }
        Err(problem) => Err(problem),
    }
}

fn told(stream: TurnStream, encoder: Encoder) -> Response {
    let stopping = stream.stopping();
    let frames = stream::unfold((stream, encoder), async |(mut stream, mut encoder)| {
        let sent = stream.next().await?;
        let events = encoder.encode(sent.event);
        Some((stream::iter(events), (stream, encoder)))
    });
    let frames = with_farewell(frames.flatten().map(|event| frame(&event)), stopping);
    streamed(Sse::new(frames).keep_alive(keep_alive()).into_response())
}

fn frame(event: &Event) -> Result<Frame, Infallible> {
    // None of its fields can fail to be written.
    Ok(Frame::default().data(serde_json::to_string(event).unwrap_or_default()))
}
