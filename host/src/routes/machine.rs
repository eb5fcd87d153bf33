//! What programs may do that have a key: with all sessions of their tenant.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_extra::extract::WithRejection;
use quixos_engine::Settlement;
use quixos_protocol::{Action, ClientInput, DecisionResponse, whole};
use quixos_session::sessions::CallFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ulid::Ulid;

use super::body::Body;
use super::client::{Accepted, Done, InterruptBody, Interrupted};
use super::events;
use crate::credential::Machine;
use crate::error::ApiError;
use crate::state::{Asker, Shared, State, machine, metadata};
use crate::tokens::{Bearer, Identity, LONGEST};

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new()
        .route("/api/machine/client-tokens", post(issue))
        .route("/api/machine/sessions/submit", post(submit))
        .route("/api/machine/sessions/{id}", get(view))
        .route("/api/machine/sessions/{id}/events/stream", get(events::of_machine))
        .route("/api/machine/sessions/{id}/calls/settle", post(settle))
        .route("/api/machine/sessions/{id}/interrupt", post(interrupt))
        .route("/api/machine/sessions/{id}/cancel", post(cancel))
        .route("/api/machine/workers/submit", post(answer))
}

/// Whom a token is for.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TokenBody {
    /// The owner.
    identity: Identity,
    /// Seconds that it holds. Omitted: as the config says.
    #[serde(default, deserialize_with = "whole::optional")]
    #[schemars(range(min = 1, max = LONGEST))]
    ttl_seconds: Option<i64>,
    /// The agents that its bearer may use. Omitted: all.
    agents: Option<Vec<String>>,
}

/// A token.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Issued {
    token: String,
    /// When it ends, in seconds of Unix time.
    expires_at: i64,
}

/// An input on behalf of an owner.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SubmitBody {
    /// The agent, which the payload need not name again.
    #[schemars(regex(pattern = r"\S"))]
    agent_id: String,
    /// The owner.
    identity: Identity,
    /// The session. Omitted: a new one.
    #[schemars(regex(pattern = r"\S"))]
    session_id: Option<String>,
    /// The turn, which the payload need not name again.
    turn_id: Option<String>,
    /// The input, a `ClientInput`.
    #[schemars(with = "ClientInput")]
    payload: Value,
}

/// How a call ended: with a `result`, or with an `error`.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SettleBody {
    /// The call.
    #[serde(alias = "id")]
    call_id: String,
    /// The attempt. Omitted: the current one.
    #[serde(default, deserialize_with = "whole::optional")]
    attempt: Option<u32>,
    /// The result, of any type; without an `error`, what is left out is null.
    #[serde(default)]
    result: Value,
    /// What went wrong.
    error: Option<String>,
    /// Whether the call's policy may try again. Default: false.
    #[serde(default)]
    retryable: bool,
}

/// What is to end.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelBody {
    /// The turn. Omitted: the session, for good.
    turn_id: Option<String>,
}

/// The answer to a decision, by another way than the reply to its delivery.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AnswerBody {
    /// The session.
    session_id: String,
    /// The decision.
    decision_id: String,
    /// The answer. It is read by itself: behind `flatten`, serde tells no places and takes lists for
    /// objects.
    #[serde(flatten)]
    #[schemars(with = "DecisionResponse")]
    answer: Map<String, Value>,
}

async fn issue(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    Body(body): Body,
) -> Result<Json<Issued>, ApiError> {
    let TokenBody { identity, ttl_seconds, agents } = state.read(&body)?;
    let bearer = Bearer { tenant, identity, agents };
    let (token, expires_at) = state.tokens.issue(&bearer, ttl_seconds, state.now())?;
    Ok(Json(Issued { token, expires_at }))
}

async fn submit(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    Body(body): Body,
) -> Result<(StatusCode, Json<Accepted>), ApiError> {
    let SubmitBody { agent_id, identity, session_id, turn_id, mut payload } = state.read(&body)?;
    if let Value::Object(payload) = &mut payload {
        payload.entry("agent_id").or_insert_with(|| agent_id.clone().into());
        if let Some(turn_id) = turn_id {
            payload.entry("turn_id").or_insert_with(|| turn_id.into());
        }
    }
    let input: ClientInput = quixos_protocol::parse_value(payload)?;
    if input.agent_id().is_some_and(|named| named != agent_id) {
        return Err(ApiError::invalid("`/payload/agent_id`: another agent than `/agent_id`"));
    }
    state.may_begin()?;
    let session_id = session_id.unwrap_or_else(|| Ulid::generate().to_string().to_lowercase());
    let input = serde_json::to_string(&input).map_err(|it| ApiError::invalid(it.to_string()))?;
    let by = machine(&tenant, &identity.id);
    let submitted = state.engine.submit(by, session_id, metadata(&identity)?, input).await?;
    let accepted = Accepted { session_id: submitted.session_id, turn_id: submitted.turn_id };
    Ok((StatusCode::ACCEPTED, Json(accepted)))
}

async fn view(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
) -> Result<axum::response::Response, ApiError> {
    use axum::response::IntoResponse as _;

    state.require(&Asker::machine(&tenant), &id).await?;
    let view = state.engine.view(&id).await?;
    Ok(([(axum::http::header::CONTENT_TYPE, "application/json")], view).into_response())
}

async fn settle(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    Body(body): Body,
) -> Result<Json<Done>, ApiError> {
    let SettleBody { call_id, attempt, result, error, retryable } = state.read(&body)?;
    let by = machine(&tenant, "");
    let settlement = match error {
        Some(message) => Settlement::Failure(CallFailure {
            message,
            retryable,
            code: None,
            detail: None,
            retry_after: None,
        }),
        None => Settlement::Result(result),
    };
    let outcome = state.engine.settle(by, &id, call_id, attempt, settlement).await?;
    Ok(Json(Done { ok: true, applied: outcome.applied }))
}

async fn answer(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    Body(body): Body,
) -> Result<Json<Done>, ApiError> {
    let AnswerBody { session_id, decision_id, answer } = state.read(&body)?;
    let answer: DecisionResponse = quixos_protocol::parse_value(Value::Object(answer))?;
    require_whole(&answer)?;
    state.require(&Asker::machine(&tenant), &session_id).await?;
    let answer = serde_json::to_string(&answer).map_err(|it| ApiError::invalid(it.to_string()))?;
    let outcome = state.engine.answer(&session_id, decision_id, answer).await?;
    Ok(Json(Done { ok: true, applied: outcome.applied }))
}

/// Refuses an answer that leaves out what only the reply to a delivery may leave out: which call is
/// settled, and what a call is made with.
fn require_whole(answer: &DecisionResponse) -> Result<(), ApiError> {
    for (at, action) in answer.actions.iter().enumerate() {
        let names_none =
            matches!(action, Action::MessageSend(_) | Action::Interrupt(_) | Action::Done(_));
        let lacks_model = matches!(action, Action::LlmCall(call) if call.model.is_none());
        if lacks_model || !names_none && action.call_id().is_none() {
            let missing = if lacks_model { "model" } else { "id" };
            return Err(ApiError::invalid(format!("`/actions/{at}`: `{missing}` is missing")));
        }
    }
    Ok(())
}

async fn interrupt(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    Body(body): Body,
) -> Result<Json<Interrupted>, ApiError> {
    let InterruptBody { interrupt_id, reason, payload } = state.read(&body)?;
    let by = machine(&tenant, "");
    let interrupt_id = state.engine.interrupt(by, &id, interrupt_id, reason, payload).await?;
    Ok(Json(Interrupted { ok: true, interrupt_id }))
}

async fn cancel(
    state: Shared,
    WithRejection(Machine(tenant), _): WithRejection<Machine, ApiError>,
    WithRejection(Path(id), _): WithRejection<Path<String>, ApiError>,
    Body(body): Body,
) -> Result<Json<Done>, ApiError> {
    let body: &[u8] = if body.is_empty() { b"{}" } else { &body };
    let CancelBody { turn_id } = state.read(body)?;
    let by = machine(&tenant, "");
    let outcome = state.engine.cancel(by, &id, turn_id).await?;
    Ok(Json(Done { ok: true, applied: outcome.applied }))
}
