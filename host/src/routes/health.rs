//! Whether the host lives, and whether it can do what it is for.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::error::ApiError;
use crate::state::{Shared, State};

pub(super) fn routes() -> Router<Arc<State>> {
    Router::new().route("/healthz", get(async || "ok\n")).route("/readyz", get(ready))
}

/// Ready is who can read the store and is not about to stop.
async fn ready(state: Shared) -> Result<&'static str, ApiError> {
    state.may_begin()?;
    state.engine.runtime().read(|snapshot| snapshot.head().map(drop)).await?;
    Ok("ready\n")
}
