//! UI message streams: turns as front ends that use the AI SDK want them.
//!
//! Its transport posts the whole conversation, and is told of the answer by a stream of chunks; a
//! stream that was broken off is asked for again by the name of the thread. In reading order:
//! `input.rs` (what is posted), `encode.rs` (what is told), `chunk.rs`.

mod chunk;
mod encode;
mod input;

use std::convert::Infallible;

use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event as Frame, Sse};
use axum::response::{IntoResponse as _, Response};
use axum_extra::extract::WithRejection;
use futures_util::{StreamExt as _, stream};
use quixos_engine::Answered;
use quixos_protocol::ClientContext;
use quixos_protocol::agent::RequestError;
use serde_json::Value;

pub(crate) use self::chunk::Chunk;
use self::encode::{Approval, Encoder};
pub(crate) use self::input::ChatInput;
use self::input::Trigger;
use crate::agent::{Problem, TurnStream, keep_alive, streamed};
use crate::credential::Client;
use crate::error::ApiError;
use crate::farewell::with_farewell;
use crate::front::{self, Ask, read};
use crate::routes::Body;
use crate::state::Shared;

/// The header that says what a stream is, and which version of it.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-vercel-ai-ui-message-stream");
/// The version.
const VERSION: &str = "v1";
/// What ends a stream.
const DONE: &str = "[DONE]";

/// Answers what is new in a conversation, and tells of it.
pub(crate) async fn send(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path(agent), _): WithRejection<Path<String>, Problem>,
    body: Result<Body, ApiError>,
) -> Result<Response, Problem> {
    let input: ChatInput = read(&state, body)?;
    let conversation = input.conversation().map_err(RequestError::from)?;
    let (approvals, answers): (Vec<Approval>, Vec<Answered>) = input
        .approvals()
        .into_iter()
        .map(|(approval, data)| {
            let action_id = approval.id.clone();
            (approval, Answered { action_id, outcome: Ok(data) })
        })
        .unzip();
    let again = input.trigger == Trigger::RegenerateMessage;
    let props = (!input.rest.is_empty()).then(|| Value::Object(input.rest.clone()));
    let ask = Ask {
        key: if again || !answers.is_empty() { None } else { input.last_said() },
        once: if again { None } else { input.once() },
        thread: input.id,
        conversation,
        answers,
        client: ClientContext { forwarded_props: props, ..ClientContext::default() },
        again,
    };
    let stream = front::begin(&state.0, &bearer, &agent, ask).await?;
    Ok(told(stream, Encoder::new(approvals)))
}

/// Tells of what runs in a thread; 204 if nothing does.
pub(crate) async fn resume(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path((agent, thread)), _): WithRejection<Path<(String, String)>, Problem>,
) -> Result<Response, Problem> {
    Ok(match front::running(&state.0, &bearer, &agent, &thread).await? {
        Some(stream) => told(stream, Encoder::new(Vec::new())),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

fn told(stream: TurnStream, encoder: Encoder) -> Response {
    let stopping = stream.stopping();
    let chunks = stream::unfold((stream, encoder), async |(mut stream, mut encoder)| {
        let sent = stream.next().await?;
        let is_last = sent.event.is_terminal();
        let frames = encoder.encode(sent.event).into_iter().map(|chunk| frame(&chunk));
        let end = is_last.then(|| Ok(Frame::default().data(DONE)));
        let frames: Vec<_> = frames.chain(end).collect();
        Some((stream::iter(frames), (stream, encoder)))
    });
    let sse = Sse::new(with_farewell(chunks.flatten(), stopping)).keep_alive(keep_alive());
    let mut response = streamed(sse.into_response());
    response.headers_mut().insert(HEADER, HeaderValue::from_static(VERSION));
    response
}

fn frame(chunk: &Chunk) -> Result<Frame, Infallible> {
    // None of its fields can fail to be written.
    Ok(Frame::default().data(serde_json::to_string(chunk).unwrap_or_default()))
}
