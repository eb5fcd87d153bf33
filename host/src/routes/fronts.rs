//! What existing front ends connect to: AG-UI, and the AI SDK's UI message streams.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::state::State;
use crate::{agui, ui_message};

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new()
        .route("/v1/agents/{name}/ag-ui", post(agui::run))
        .route("/v1/agents/{name}/ui-message-stream", post(ui_message::send))
        .route("/v1/agents/{name}/ui-message-stream/{thread}/stream", get(ui_message::resume))
}
