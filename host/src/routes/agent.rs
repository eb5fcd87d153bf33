//! The agent event protocol's own routes: begin a turn, follow one, abort one.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_extra::extract::WithRejection;
use quixos_protocol::agent::{AgentRequest, ErrorCode, RequestLimits};
use quixos_session::sessions::Once;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::body::Body;
use crate::agent::{self, Format, Position, Problem, TurnStream};
use crate::credential::Client;
use crate::error::ApiError;
use crate::state::{Shared, State, frontend};

/// Bytes that a request has at most, whatever the config says: a session takes no longer input.
const MOST_BYTES: usize = (3 << 20) - (64 << 10);
/// The header under which a client names what it asks, so that it may send it again.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The most bytes of such a name.
const KEY_BYTES: usize = 255;
/// The header that a reader sends who comes back.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new()
        .route("/v1/agents/{name}/stream", post(begin))
        .route("/v1/requests/{id}/stream", get(follow))
        .route("/v1/requests/{id}/abort", post(abort))
}

/// From where a stream is asked for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StreamQuery {
    /// The id of the event behind which to begin. Omitted: from the begin. The header
    /// `Last-Event-ID` counts more.
    #[schemars(regex(pattern = r"^[0-9]{1,15}\.[0-9]{1,9}$"))]
    after: Option<String>,
}

/// What came of an abort.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Aborted {
    /// The turn.
    request_id: String,
    /// Its thread.
    thread_id: String,
    /// False where there was nothing to abort any more.
    aborted: bool,
}

impl State {
    /// Returns how large a request of a client may be.
    pub(crate) fn request_limits(&self) -> RequestLimits {
        RequestLimits { body: self.body.min(MOST_BYTES), text: self.text }
    }
}

async fn begin(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    headers: HeaderMap,
    WithRejection(Path(name), _): WithRejection<Path<String>, Problem>,
    body: Result<Body, ApiError>,
) -> Result<Response, Problem> {
    let Body(body) = body.map_err(|error| unread(&error))?;
    let request = AgentRequest::read(&body, state.request_limits())?;
    let once = once(&headers, &name, &body)?;
    let stream = agent::begin(&state, &bearer, &name, request, once).await?;
    Ok(agent::respond(stream, Format::of(&headers)))
}

async fn follow(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    headers: HeaderMap,
    WithRejection(Path(id), _): WithRejection<Path<String>, Problem>,
    WithRejection(Query(query), _): WithRejection<Query<StreamQuery>, Problem>,
) -> Result<Response, Problem> {
    let after = after(&headers, &query)?;
    let at = agent::find(&state, &bearer, &id).await?;
    let slot = state.limiter.open(&bearer)?;
    let by = frontend(&bearer);
    state.engine.follow_turn(by.clone(), &at.session_id, &at.turn_id).await?;
    let stream = TurnStream::open(Arc::clone(&state), by, id, &at, after, slot).await?;
    Ok(agent::respond(stream, Format::of(&headers)))
}

async fn abort(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, Problem>,
    WithRejection(Path(id), _): WithRejection<Path<String>, Problem>,
) -> Result<Json<Aborted>, Problem> {
    let at = agent::find(&state, &bearer, &id).await?;
    let by = frontend(&bearer);
    let outcome = state.engine.cancel(by, &at.session_id, Some(at.turn_id)).await?;
    let (request_id, thread_id, aborted) = (id, at.session_id, outcome.applied);
    Ok(Json(Aborted { request_id, thread_id, aborted }))
}

/// Returns the key of a request, if it has one, with the digest of all that is asked under it.
fn once(headers: &HeaderMap, agent: &str, body: &[u8]) -> Result<Option<Once>, Problem> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let is_visible = |key: &&str| key.bytes().all(|byte| byte.is_ascii_graphic());
    let key = key.to_str().ok().filter(is_visible);
    let key = key.filter(|key| (1..=KEY_BYTES).contains(&key.len()) && keys.next().is_none());
    let Some(key) = key else {
        let told = format!("`Idempotency-Key`: not one key of 1 to {KEY_BYTES} visible characters");
        return Err(Problem::invalid(told));
    };
    let mut digest = blake3::Hasher::new();
    // The length keeps apart what would run together.
    digest.update(&(agent.len() as u64).to_be_bytes()).update(agent.as_bytes()).update(body);
    Ok(Some(Once { key: key.to_owned(), digest: digest.finalize().to_hex().to_string() }))
}

/// Returns the event that a reader had last, if it says so. What it had counts more than what it
/// asked for first.
fn after(headers: &HeaderMap, query: &StreamQuery) -> Result<Option<Position>, Problem> {
    let position = |name: &str, text: &str| {
        let told = |error| Problem::invalid(format!("`{name}`: `{text}` is {error}"));
        text.parse::<Position>().map_err(told)
    };
    let after = query.after.as_deref().map(|after| position("after", after)).transpose()?;
    match headers.get(LAST_EVENT_ID).filter(|last| !last.is_empty()) {
        Some(last) => position("Last-Event-ID", last.to_str().unwrap_or("?")).map(Some),
        None => Ok(after),
    }
}

/// A body that could not be read to its end, or has too many bytes.
pub(crate) fn unread(error: &ApiError) -> Problem {
    if error.is_too_large() {
        Problem::coded(ErrorCode::MessageTooLarge, "the body has more bytes than are taken")
    } else if error.is_too_slow() {
        Problem::too_slow()
    } else {
        Problem::invalid("the body ended early")
    }
}
