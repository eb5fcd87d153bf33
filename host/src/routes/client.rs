//! What clients may do: with the sessions of their owner, and no others.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_extra::extract::WithRejection;
use quixos_protocol::ClientInput;
use quixos_session::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use ulid::Ulid;

use super::body::Body;
use super::events;
use crate::credential::Client;
use crate::error::ApiError;
use crate::state::{Asker, Shared, State, frontend, metadata};

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new()
        .route("/api/client/sessions/input", post(input))
        .route("/api/client/sessions/{id}", get(view))
        .route("/api/client/sessions/{id}/events/stream", get(events::of_client))
        .route("/api/client/sessions/{id}/interrupt", post(interrupt))
        .route("/api/client/sessions/{id}/cancel", post(cancel))
}

/// An input of a client.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct InputBody {
    /// The session. Omitted: a new one.
    #[schemars(regex(pattern = r"\S"))]
    session_id: Option<String>,
    /// The input.
    input: ClientInput,
}

/// Where an input went.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Accepted {
    /// The session.
    pub(super) session_id: String,
    /// The turn that the input belongs to, if it belongs to one.
    pub(super) turn_id: Option<String>,
}

/// A pause.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct InterruptBody {
    /// The interrupt. Omitted: one is minted.
    pub(super) interrupt_id: Option<String>,
    /// Why.
    #[serde(default)]
    pub(super) reason: String,
    /// What else is to be known about it.
    #[serde(default)]
    pub(super) payload: Value,
}

/// A pause that is there.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Interrupted {
    pub(super) ok: bool,
    /// The interrupt.
    pub(super) interrupt_id: String,
}

/// What is to end.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelTurnBody {
    /// The turn.
    turn_id: String,
}

/// It is done, or there was nothing to do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Done {
    pub(super) ok: bool,
    /// False where there was nothing to do: it was done before, or came too late.
    pub(super) applied: bool,
}

async fn input(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, ApiError>,
    Body(body): Body,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let InputBody { session_id, input } = state.read(&body)?;
    if input.agent_id().is_some_and(|agent| !bearer.may_use(agent)) {
        return Err(Refusal::UnknownAgent.into());
    }
    state.may_begin()?;
    // Only a message names its agent: an answer goes to whatever the session is bound to.
    if let Some(session_id) = &session_id {
        state.visible(&Asker::client(&bearer), session_id).await?;
    }
    let session_id = session_id.unwrap_or_else(|| Ulid::generate().to_string().to_lowercase());
    let input = serde_json::to_string(&input).map_err(|it| ApiError::invalid(it.to_string()))?;
    let metadata = metadata(&bearer.identity)?;
    let by = frontend(&bearer);
    let submitted = state.engine.submit(by, session_id, metadata, input).await?;
    let accepted = Accepted { session_id: submitted.session_id, turn_id: submitted.turn_id };
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

async fn view(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
) -> Result<Response, ApiError> {
    state.require(&Asker::client(&bearer), &id).await?;
    let view = state.engine.view(&id).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], view).into_response())
}

async fn interrupt(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    Body(body): Body,
) -> Result<Json<Interrupted>, ApiError> {
    let InterruptBody { interrupt_id, reason, payload } = state.read(&body)?;
    state.require(&Asker::client(&bearer), &id).await?;
    let by = frontend(&bearer);
    let interrupt_id = state.engine.interrupt(by, &id, interrupt_id, reason, payload).await?;
    Ok(Json(Interrupted { ok: true, interrupt_id }))
}

async fn cancel(
    state: Shared,
    WithRejection(Client(bearer), _): WithRejection<Client, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    Body(body): Body,
) -> Result<Json<Done>, ApiError> {
    let CancelTurnBody { turn_id } = state.read(&body)?;
    state.require(&Asker::client(&bearer), &id).await?;
    let by = frontend(&bearer);
    let outcome = state.engine.cancel(by, &id, Some(turn_id)).await?;
    Ok(Json(Done { ok: true, applied: outcome.applied }))
}
