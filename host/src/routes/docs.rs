//! What describes the host to programs.

use std::sync::Arc;

use axum::routing::get;
use axum::{Json, Router};

use crate::openapi;
use crate::state::State;

pub(super) fn routes() -> Router<Arc<State>> {
    let decisions = async || Json(quixos_protocol::schema::document());
    let agents = async || Json(quixos_protocol::schema::agent_document());
    Router::new()
        .route("/openapi.json", get(async || Json(openapi::document())))
        .route("/schemas/decision-protocol.json", get(decisions))
        .route("/schemas/agent-event-protocol.json", get(agents))
}
