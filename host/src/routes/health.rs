//! Whether the host lives, whether it can do what it is for, and what it counts.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use quixos_runtime::store::Health;

use crate::error::ApiError;
use crate::metrics::Figures;
use crate::state::{Shared, State};

/// Returns what anybody may ask, at each door.
pub(crate) fn routes() -> Router<Arc<State>> {
    Router::new().route("/health", get(async || "ok\n")).route("/ready", get(ready))
}

/// Returns what only operators may read.
pub(crate) fn metrics() -> Router<Arc<State>> {
    Router::new().route("/metrics", get(told))
}

/// Ready is who can read the store and write to it, drives sessions, and is not about to stop.
async fn ready(state: Shared) -> Result<&'static str, ApiError> {
    let not = |code, error: &str| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, error);
    state.may_begin()?;
    if state.engine.is_stopping() {
        return Err(ApiError::stopping());
    }
    let runtime = state.engine.runtime();
    match runtime.health() {
        Health::Good => {}
        Health::NoSpace { .. } => return Err(not("no-space", "the disk is full")),
        Health::Poisoned { .. } => return Err(not("storage", "the store takes no more writes")),
    }
    let figures = runtime.figures();
    if figures.waiting >= figures.queue {
        return Err(not("busy", "more waits already than may"));
    }
    runtime.read(|snapshot| snapshot.head().map(drop)).await?;
    Ok("ready\n")
}

async fn told(state: Shared) -> Response {
    state.metrics.told(&Figures::of(&state).await)
}
