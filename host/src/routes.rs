//! The routes, each in the file of whoever it is for.

pub(crate) mod agent;
mod body;
pub(crate) mod client;
pub(crate) mod docs;
pub(crate) mod events;
mod fronts;
pub(crate) mod health;
pub(crate) mod machine;
mod page;
pub(crate) mod threads;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, header};
use axum::{Router, middleware};
use quixos_engine::trace;
use tower_http::cors::{Any, CorsLayer};

pub(crate) use body::{Body, PATIENCE};

use crate::error::ApiError;
use crate::metrics;
use crate::state::State;
use crate::telemetry;
use crate::ui_message;

/// Returns what operators read.
pub(crate) fn figures(state: Arc<State>) -> Router {
    health::metrics().with_state(state)
}

/// Returns the routes that whoever watches over hosts asks, without a credential.
pub(crate) fn open(state: Arc<State>) -> Router {
    health::routes().with_state(state)
}

/// Returns all routes. Pages of other hosts may use those of clients; a token is sent along with
/// each request and never by itself, so any page may.
pub(crate) fn all(state: Arc<State>) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::PATCH])
        .expose_headers([header::RETRY_AFTER, ui_message::HEADER])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            // The AI SDK says who it is.
            header::USER_AGENT,
            header::HeaderName::from_static("last-event-id"),
            header::HeaderName::from_static(agent::IDEMPOTENCY_KEY),
            // A page that is traced says which trace it belongs to.
            header::HeaderName::from_static(trace::HEADER),
            telemetry::STATE_HEADER,
        ]);
    let page = if state.page { page::routes() } else { Router::new() };
    Router::new()
        .merge(shared(client::routes(), cors.clone()))
        .merge(shared(agent::routes().merge(threads::routes()).merge(fronts::routes()), cors))
        .merge(page)
        .merge(machine::routes())
        .merge(crate::durable::routes())
        .merge(health::routes())
        .merge(docs::routes())
        .fallback(async || {
            ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such route")
        })
        .method_not_allowed_fallback(other_method)
        .layer(DefaultBodyLimit::max(state.body))
        .layer(middleware::from_fn(telemetry::place))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), metrics::count))
        .with_state(state)
}

/// Lets pages of other hosts use routes. What answers another method has to be theirs before: what a
/// browser asks first is another method, and an answer that is set later is not within the layer.
pub(crate) fn shared(routes: Router<Arc<State>>, cors: CorsLayer) -> Router<Arc<State>> {
    routes.method_not_allowed_fallback(other_method).layer(cors)
}

async fn other_method() -> ApiError {
    let error = "the route is there, with another method";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", error)
}
